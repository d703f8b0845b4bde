// Writes a memory folder with a ledger of many records: node ledger.mjs FOLDER COUNT. The last record's payload is hostile.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";

const [folder, count] = [process.argv[2], Number(process.argv[3])];
const kinds = ["decision", "observation", "note", "label", "incident"];
const shards = Math.min(1000, Math.max(4, Math.ceil(count / 100)));
const filler = "The flaky upload step passes when it is retried after the cache was cleared, see the linked run. ".repeat(5);
mkdirSync(`${folder}/ledger/shards`, { recursive: true });
let heads = [], lines = [], written = 0;
for (let index = 0; index < count; index++) {
    const hostile = index === count - 1;
    const payload = hostile
        ? { hostile: "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">\u202e" }
        : { issue: index, needle: index === 7 ? "needle-in-the-hay" : "hay", summary: filler };
    const merges = index % 40 === 30 && heads.length > 1;
    const parents = heads.length === 0 || index % 40 === 7 ? heads.slice(0, 1) : merges ? heads : heads.slice(-1);
    const text = (sha) => `{"id":"${id}","parents":${JSON.stringify([...parents].sort())},"payload":${JSON.stringify(payload)},` +
        `${sha ? `"sha":"${sha}",` : ""}"timestamp":"${time}","type":"${hostile ? "<b>hostile</b>" : kinds[index % kinds.length]}","version":1}`;
    const id = `ldg-${randomUUID()}`;
    const time = new Date(Date.UTC(2026, 0, 1) + index * Math.floor(80 * 864e5 / count)).toISOString();
    const sha = `sha256:${createHash("sha256").update(text()).digest("hex")}`;
    lines.push(text(sha));
    if (index % 40 === 7) heads.push(sha);
    else heads = merges ? [sha] : [...heads.slice(0, -1), sha];
    if (index + 1 >= Math.ceil((written + 1) * count / shards)) {
        writeFileSync(`${folder}/ledger/shards/${randomUUID()}.jsonl`, lines.join("\n") + "\n");
        lines = [];
        written++;
    }
}
