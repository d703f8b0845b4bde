// Opens a report in Chromium and uses it: node check.mjs MODULES CHROMIUM REPORT RECORDS [SCREENSHOTS].
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, report, records, screenshots] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");
const holds = (condition, what) => {
    if (!condition) throw new Error(what);
};
const browser = await chromium.launch({
    executablePath,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1500 } });
    const said = [], asked = [];
    page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => said.push(`error: ${error.message}`));
    page.on("request", (request) => asked.push(request.url()));
    await page.addInitScript(() => {
        window.tasks = [];
        new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ type: "longtask", buffered: true });
    });
    const url = pathToFileURL(report).href;
    const begun = Date.now();
    await page.goto(url, { waitUntil: "domcontentloaded", timeout: 240_000 });
    await page.waitForSelector("body[data-ready]", { timeout: 240_000 });
    const ready = Date.now() - begun;
    const counted = () => page.textContent("#count");
    const all = Number(records).toLocaleString("en");
    holds(await counted() === `${all} of ${all}`, `the page counts ${await counted()}`);
    holds(await page.locator(".row").count() < 100, "the table is not virtual");
    holds(await page.locator("#time rect").count() > 2 && await page.locator("#graph circle").count() > 2, "a drawing is empty");
    // The newest record is hostile: its markup stays text.
    await page.click(".row >> nth=0");
    const detail = await page.textContent("#detail");
    holds(detail.includes("</script><script>document.title='pwned'"), "the payload is not shown as text");
    holds(detail.includes("\\u{202e}") && !detail.includes("\u202e"), "a control is not made visible");
    holds(await page.title() === "Daybook report" && await page.locator("#detail img, #detail script, .row b").count() === 0, "a payload became markup");
    if (screenshots) await page.screenshot({ path: `${screenshots}/light.png` });
    await page.click("#detail button >> nth=0");
    holds(!(await page.textContent("#detail")).includes("pwned"), "a parent cannot be opened");
    // Keys move the selection.
    await page.focus("#list");
    await page.keyboard.press("End");
    holds((await page.textContent("#detail")).includes('"issue": 0'), "the End key does not lead to the oldest record");
    const searched = async (act) => {
        const before = await page.getAttribute("body", "data-searched");
        await act();
        await page.waitForFunction((old) => document.body.dataset.searched !== (old ?? undefined), before, { timeout: 240_000 });
    };
    await searched(() => page.fill("#search", "needle-in-the-hay"));
    holds(await counted() === `1 of ${all}`, `the search finds ${await counted()}`);
    await page.click(".row");
    holds((await page.textContent("#detail")).includes('"issue": 7'), "the wrong record was found");
    await searched(() => page.fill("#search", ""));
    await searched(() => page.selectOption("#kind", "<b>hostile</b>"));
    holds(await counted() === `1 of ${all}`, `the type filter finds ${await counted()}`);
    if (screenshots) {
        await page.emulateMedia({ colorScheme: "dark" });
        await page.screenshot({ path: `${screenshots}/dark.png` });
    }
    holds(said.length === 0, `the console says ${said.join("; ")}`);
    const foreign = asked.filter((address) => address !== url);
    holds(foreign.length === 0, `the page asks for ${foreign.join(", ")}`);
    const longest = Math.max(0, ...await page.evaluate(() => window.tasks));
    // That nothing was seen means something only where something would have been.
    await page.evaluate(() => new Promise((done) => setTimeout(() => {
        for (const end = performance.now() + 300; performance.now() < end;);
        setTimeout(done, 200);
    })));
    holds(Math.max(0, ...await page.evaluate(() => window.tasks)) >= 250, "long tasks are not seen");
    console.log(`${records} records: ready after ${ready} ms, longest task ${longest} ms`);
    holds(longest <= 1000, "a task is longer than a second");
} finally {
    await browser.close();
}
