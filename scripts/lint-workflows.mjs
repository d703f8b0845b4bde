// Collects what three linters found, and fails on all that is not allowed: ALLOW ZIZMOR ACTIONLINT FILE…
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';

const [allowFile, zizmorFile, actionlintFile, ...files] = process.argv.slice(2);
const findings = [];
for (const finding of JSON.parse(readFileSync(zizmorFile, 'utf8'))) {
  const place = finding.locations.find((location) => location.symbolic.kind === 'Primary') ?? finding.locations[0];
  findings.push({
    rule: `zizmor ${finding.ident}`,
    file: basename(place.symbolic.key.Local.verbatim_path),
    line: place.concrete.location.start_point.row + 1,
    message: `${finding.desc}: ${place.symbolic.annotation}`,
  });
}
for (const { kind, filepath, line, message } of JSON.parse(readFileSync(actionlintFile, 'utf8') || '[]')) {
  findings.push({ rule: `actionlint ${kind}`, file: basename(filepath), line, message });
}
for (const file of files) {
  const content = readFileSync(file, 'utf8');
  const { context } = parseWorkflow({ name: basename(file), content }, new NoOperationTraceWriter());
  for (const error of context.errors.getErrors()) {
    findings.push({ rule: 'parser error', file: basename(file), line: error.range?.start.line ?? 0, message: error.rawMessage });
  }
}

// One line: rule, file or *, a part of the message or *, and behind # the reason.
const allowed = readFileSync(allowFile, 'utf8')
  .split('\n')
  .filter((line) => line.trim() && !line.startsWith('#'))
  .map((line) => {
    const [what, reason] = line.split(' # ');
    const [rule, file, part] = what.split(' | ').map((word) => word.trim());
    if (!reason || !part) throw new Error(`this line allows without a reason: ${line}`);
    return { rule, file, part, used: 0 };
  });
const fits = (finding) => (row) =>
  row.rule === finding.rule && (row.file === '*' || row.file === finding.file) && (row.part === '*' || finding.message.includes(row.part));
let bad = 0;
for (const finding of findings) {
  const row = allowed.find(fits(finding));
  if (row) row.used += 1;
  else {
    bad += 1;
    console.log(`${finding.file}:${finding.line}: ${finding.rule}: ${finding.message}`);
  }
}
for (const row of allowed.filter((row) => row.used === 0)) console.log(`note: nothing is found any more for: ${row.rule} | ${row.file} | ${row.part}`);
console.log(`${files.length} files, ${findings.length} findings, ${findings.length - bad} allowed, ${bad} not`);
process.exit(bad === 0 ? 0 : 1);
