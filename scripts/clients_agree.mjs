// Fails unless every file holds the same answers, up to identities, digests and instants: clients_agree.mjs FILE …
import { readFileSync } from "node:fs";

const TOOLS = ["ledger_append", "ledger_get", "ledger_query", "ledger_status"];

// What differs from run to run becomes its number in the order of appearance.
function settled(text) {
    const seen = new Map();
    const number = (kind) => (found) => {
        if (!seen.has(found)) seen.set(found, `${kind}${seen.size}`);
        return seen.get(found);
    };
    return text
        .replace(/sha256:[0-9a-f]{64}/g, number("sha"))
        .replace(/ldg-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, number("id"))
        // A client that starts a server for each call gets a segment, and a count of events, with each of them.
        .replace(/"(events|segment_bytes)":(\d+|\{[^{}]*\})/g, '"$1":"own"')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "instant");
}

// Members in one order: clients print them in the order of their own objects.
const ordered = (value) =>
    value && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]))
        : Array.isArray(value) ? value.map(ordered) : value;

const files = process.argv.slice(2);
const all = files.map((file) => {
    const { tools, answers } = JSON.parse(readFileSync(file, "utf8"));
    if (tools.join() !== TOOLS.join()) throw new Error(`${file} lists other tools: ${tools}`);
    return answers.map((answer) => settled(JSON.stringify(ordered(answer))));
});
const refused = all[0].filter((answer) => answer.startsWith('{"error"')).length;
for (const [client, answers] of all.entries()) {
    answers.forEach((answer, call) => {
        if (answer !== all[0][call]) {
            console.error(`call ${call}\n${files[0]}: ${all[0][call]}\n${files[client]}: ${answer}`);
            process.exit(1);
        }
    });
}
console.log(`${all.length} clients, ${all[0].length} calls, ${refused} of them refused: the same answers`);
