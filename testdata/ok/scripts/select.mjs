// Every segment but the newest one; `${{ github.token }}` in a script is text.
export default (segments) => segments.slice(0, -1);
