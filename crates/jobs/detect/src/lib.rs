//! The detect job: examines what an untrusted run staged and says a verdict (§8, DESIGN §3.4).
//!
//! It holds no credential and reaches no branch. What it says of a file is bound to the file's digest, which it hands
//! on: later jobs refuse other bytes. No finding repeats text that the run wrote.

mod content;
mod events;
mod examined;
mod finding;
mod memory;
mod sarif;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use daybook_core::baseline::{self, Baseline};
use daybook_core::config::Config;
use daybook_core::detection::{Detection, FindingCode as Code, Verdict};
use daybook_core::rules::WriteRules;
use daybook_runner::files::MAX_SAFE_OUTPUT_BYTES;
use daybook_runner::{CommonArgs, ConfigArgs, Exit, Report, Severity, outputs, parse_args, summary};
use serde_json::{Value, json};

use examined::Examined;
pub use finding::{Finding, Findings, Place};
use memory::Memory;

#[derive(Debug, clap::Parser)]
#[command(name = "daybook-detect", version, about = "Examine what a run staged and say a verdict")]
struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Folder that holds `<id>.tar` for each memory
    #[arg(long, value_name = "DIR", env = "DAYBOOK_STAGED")]
    staged: PathBuf,
    /// What the memories held before the agent started
    #[arg(long, value_name = "FILE", env = "DAYBOOK_BASELINE")]
    baseline: PathBuf,
    /// What the server says it appended
    #[arg(long, value_name = "FILE", env = "DAYBOOK_TRANSACTION_LOG")]
    transaction_log: PathBuf,
    /// The run's safe outputs, with the log merged into them
    #[arg(long, value_name = "FILE", env = "DAYBOOK_SAFE_OUTPUTS")]
    safe_outputs: PathBuf,
    /// Where findings.json and findings.sarif go
    #[arg(long, value_name = "DIR", env = "DAYBOOK_OUT")]
    out: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

/// Runs the job. `args` starts with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    match parse_args::<Args>(args) {
        Ok(args) => detect(&args).emit(&args.common),
        Err(exit) => exit,
    }
}

fn detect(args: &Args) -> Report {
    let refuse = |exit, code: &str, message: &str| {
        let mut report = Report::new(exit);
        report.error(code, message);
        report
    };
    let config = match args.config.load() {
        Ok(config) => config,
        Err(error) => return refuse(Exit::Usage, error.code(), &error.to_string()),
    };
    let mut examined = Examined::default();
    let text = examined.read(&args.baseline, "baseline.json", baseline::MAX_BYTES as u64);
    let Some(baseline) = text.and_then(|text| Baseline::parse(&text).ok()) else {
        return refuse(Exit::Refused, "baseline-unusable", "without a valid baseline nothing can be told from nothing");
    };
    let findings = match examine(args, &config, &baseline, &mut examined) {
        Ok(findings) => findings,
        Err((exit, code, message)) => return refuse(exit, code, &message),
    };
    let detection = config.detection();
    let mut report = tell(&findings, detection, &examined);
    if let Err(error) = hand_on(args, &findings, detection, &examined) {
        return refuse(Exit::Io, "not-handed-on", &format!("the findings cannot be written: {}", error.kind()));
    }
    report.wrote("findings.json and findings.sarif");
    report
}

type Stop = (Exit, &'static str, String);

fn examine(args: &Args, config: &Config, baseline: &Baseline, examined: &mut Examined) -> Result<Findings, Stop> {
    let mut findings = Findings::default();
    let log = examined.read(&args.transaction_log, "transaction-log.jsonl", MAX_SAFE_OUTPUT_BYTES);
    if log.is_none() {
        findings.add(Code::LogUnreadable, Place::default());
    }
    let mut claims = events::read(&log.unwrap_or_default(), config, true, &mut findings);
    let outputs = examined.read(&args.safe_outputs, "safe-outputs.jsonl", MAX_SAFE_OUTPUT_BYTES).unwrap_or_default();
    claims.extend(events::read(&outputs, config, false, &mut findings));
    events::strangers(&claims, &mut findings);
    for memory in config.memories() {
        let id = memory.id.as_str();
        let known = baseline
            .memory(id)
            .ok_or_else(|| (Exit::Refused, "baseline-mismatch", format!("the baseline does not know memory {id}")))?;
        let ledger = config.ledger_in(id);
        let rules = ledger.map(WriteRules::of).transpose();
        let rules = rules.map_err(|fault| (Exit::Usage, "schema-unusable", fault.to_string()))?;
        let name = format!("{id}.tar");
        let staged = examined.stream(&args.staged.join(&name), &name, |tar| {
            memory::examine_tar(tar, known, rules.as_ref(), &mut findings)
        });
        let staged = staged.unwrap_or_else(|_| {
            findings.add(Code::StagedMissing, Place { memory: Some(id.to_owned()), ..Place::default() });
            Memory::default()
        });
        if let Some(ledger) = ledger {
            events::correlate(ledger.name.as_str(), &claims, &staged, known, &mut findings);
        }
    }
    Ok(findings)
}

fn tell(findings: &Findings, detection: &Detection, examined: &Examined) -> Report {
    let verdict = findings.verdict(detection);
    let exit = if verdict == Verdict::Threat { Exit::Refused } else { Exit::Ok };
    let mut report = Report::named(verdict.name(), exit);
    report.read(format!("{} files", examined.iter().count())).decided(format!("the verdict {}", verdict.name()));
    report.member("verdict", verdict.name());
    let digests: Value = examined.iter().map(|(name, digest)| (name.to_owned(), json!(digest))).collect();
    report.member("sha256", digests).member("expect", examined.expectations());
    for (code, count) in findings.counts() {
        report.count(code.name(), count);
    }
    for finding in findings.listed() {
        let severity =
            if detection.verdict_of(finding.code) == Verdict::Threat { Severity::Error } else { Severity::Warning };
        report.diagnose(severity, finding.code.name(), finding.code.sentence(), place(&finding.place));
    }
    report
}

fn place(place: &Place) -> Value {
    let mut members = serde_json::Map::new();
    let mut set = |name: &str, value: Option<Value>| members.extend(value.map(|value| (name.to_owned(), value)));
    set("memory", place.memory.clone().map(Value::from));
    set("id", place.record.map(|record| json!(record)));
    set("sha", place.sha.map(|sha| json!(sha)));
    set("file", place.file.map(Value::from));
    set("line", place.line.map(Value::from));
    members.into()
}

fn hand_on(args: &Args, findings: &Findings, detection: &Detection, examined: &Examined) -> std::io::Result<()> {
    let verdict = findings.verdict(detection).name();
    std::fs::create_dir_all(&args.out)?;
    let write = |name: &str, value: &Value| std::fs::write(Path::new(&args.out).join(name), format!("{value:#}\n"));
    let listed: Vec<Value> = findings
        .listed()
        .iter()
        .map(|finding| {
            let mut entry = place(&finding.place);
            entry["code"] = finding.code.name().into();
            entry["verdict"] = detection.verdict_of(finding.code).name().into();
            entry
        })
        .collect();
    let counts: Value = findings.counts().map(|(code, count)| (code.name().to_owned(), json!(count))).collect();
    write("findings.json", &json!({"version": 1, "verdict": verdict, "counts": counts, "findings": listed}))?;
    write("findings.sarif", &sarif::document(findings, detection))?;
    summary::append(&table(findings, detection))?;
    outputs::set("verdict", verdict)?;
    outputs::set("expect", &examined.expectations())?;
    Ok(())
}

/// The step summary: one row for each kind of finding.
fn table(findings: &Findings, detection: &Detection) -> String {
    let mut text = format!("### Detection: {}\n\n", findings.verdict(detection).name());
    if findings.counts().next().is_none() {
        return text + "Nothing was found.\n";
    }
    text.push_str("| finding | | verdict | count |\n|---|---|---|---|\n");
    for (code, count) in findings.counts() {
        text.push_str(&format!(
            "| `{}` | {} | {} | {count} |\n",
            code.name(),
            code.sentence(),
            detection.verdict_of(code).name()
        ));
    }
    text
}
