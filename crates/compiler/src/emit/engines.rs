//! How each engine is installed and run: constants, as all scripts of the compiler's own are.
//!
//! Every engine gets the prompt on its standard input and the servers in its own form, made from the one file that
//! `PREPARE_AGENT` writes. It asks nobody, and holds one secret: the key of its own service.

/// An engine whose command line this compiler knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cli {
    /// What a source calls it.
    pub(crate) id: &'static str,
    /// The version of its npm package that is installed where the source names none.
    pub(crate) version: &'static str,
    /// The variable that it reads its key from.
    pub(crate) key: &'static str,
    /// The secret of the repository that holds the key.
    pub(crate) secret: &'static str,
    pub(crate) install: &'static str,
    pub(crate) run: &'static str,
}

/// The engines, each with the npm package that its script installs.
pub(crate) static CLIS: [Cli; 4] = [
    Cli {
        id: "claude",
        version: "2.1.332",
        key: "ANTHROPIC_API_KEY",
        secret: "ANTHROPIC_API_KEY",
        install: INSTALL_CLAUDE,
        run: RUN_CLAUDE,
    },
    Cli {
        id: "copilot",
        version: "1.0.102",
        key: "COPILOT_GITHUB_TOKEN",
        secret: "COPILOT_GITHUB_TOKEN",
        install: INSTALL_COPILOT,
        run: RUN_COPILOT,
    },
    Cli {
        id: "codex",
        version: "0.171.0",
        key: "CODEX_API_KEY",
        secret: "OPENAI_API_KEY",
        install: INSTALL_CODEX,
        run: RUN_CODEX,
    },
    Cli {
        id: "gemini",
        version: "0.61.0",
        key: "GEMINI_API_KEY",
        secret: "GEMINI_API_KEY",
        install: INSTALL_GEMINI,
        run: RUN_GEMINI,
    },
];

/// Every script of every engine.
pub(crate) const SCRIPTS: [&str; 8] =
    [INSTALL_CLAUDE, RUN_CLAUDE, INSTALL_COPILOT, RUN_COPILOT, INSTALL_CODEX, RUN_CODEX, INSTALL_GEMINI, RUN_GEMINI];

impl Cli {
    /// What may be used without asking: every server, and the tools for files.
    pub(crate) fn tools<'s>(&self, servers: impl Iterator<Item = &'s str>) -> String {
        let (before, files): (&str, &[&str]) = match self.id {
            "claude" => ("mcp__", &["Read", "Write", "Edit", "Glob", "Grep"]),
            "copilot" => ("", &["write"]),
            // These two trust the servers of their settings, and say by a mode what else they may do.
            _ => ("", &[]),
        };
        let servers = servers.map(|name| format!("{before}{name}"));
        servers.chain(files.iter().map(|name| (*name).to_owned())).collect::<Vec<_>>().join(",")
    }
}

const INSTALL_CLAUDE: &str = r#"set -euo pipefail
npm install --global --no-audit --no-fund "@anthropic-ai/claude-code@$DAYBOOK_ENGINE_VERSION"
"#;

const RUN_CLAUDE: &str = r#"set -euo pipefail
model=()
if [ -n "$DAYBOOK_ENGINE_MODEL" ]; then model=(--model "$DAYBOOK_ENGINE_MODEL"); fi
claude --print --mcp-config "$DAYBOOK_MCP_CONFIG" --strict-mcp-config --permission-mode acceptEdits \
  --allowedTools "$DAYBOOK_ENGINE_TOOLS" ${model[@]+"${model[@]}"} < "$DAYBOOK_PROMPT"
"#;

const INSTALL_COPILOT: &str = r#"set -euo pipefail
npm install --global --no-audit --no-fund "@github/copilot@$DAYBOOK_ENGINE_VERSION"
"#;

/// Each server says what it is and which of its tools may be used. Folders are not added one by one: settings of an added
/// folder are trusted, and a memory is not.
const RUN_COPILOT: &str = r#"set -euo pipefail
export COPILOT_HOME=$RUNNER_TEMP/daybook/engine
mkdir -p "$COPILOT_HOME"
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const { DAYBOOK_MCP_CONFIG, COPILOT_HOME } = process.env;
  const { mcpServers } = JSON.parse(readFileSync(DAYBOOK_MCP_CONFIG, "utf8"));
  for (const server of Object.values(mcpServers)) {
    server.type ??= server.command ? "local" : "http";
    server.tools ??= ["*"];
  }
  writeFileSync(COPILOT_HOME + "/mcp-config.json", JSON.stringify({ mcpServers }), { mode: 0o600 });
'
args=()
if [ -n "$DAYBOOK_ENGINE_MODEL" ]; then args=(--model "$DAYBOOK_ENGINE_MODEL"); fi
IFS=, read -ra tools <<< "$DAYBOOK_ENGINE_TOOLS"
for tool in "${tools[@]}"; do args+=(--allow-tool "$tool"); done
copilot --no-auto-update --disable-builtin-mcps --allow-all-paths "${args[@]}" < "$DAYBOOK_PROMPT"
"#;

const INSTALL_CODEX: &str = r#"set -euo pipefail
npm install --global --no-audit --no-fund "@openai/codex@$DAYBOOK_ENGINE_VERSION"
"#;

/// Texts of JSON are texts of TOML but for one control character. A variable of the settings is put in here, as this
/// engine does not do it.
const RUN_CODEX: &str = r#"set -euo pipefail
export CODEX_HOME=$RUNNER_TEMP/daybook/engine
mkdir -p "$CODEX_HOME"
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const { env } = process;
  const { mcpServers } = JSON.parse(readFileSync(env.DAYBOOK_MCP_CONFIG, "utf8"));
  const filled = (text) => text.replace(/\$\{(\w+)\}/g, (_, name) => env[name] ?? "");
  const quoted = (text) => JSON.stringify(filled(String(text))).replaceAll("\u007f", "\\u007f");
  const table = (map) => "{ " + Object.entries(map).map(([key, value]) => quoted(key) + " = " + quoted(value)).join(", ") + " }";
  const lines = ["approval_policy = \"never\"", "[shell_environment_policy]", "exclude = [\"CODEX_API_KEY\"]"];
  for (const [name, server] of Object.entries(mcpServers)) {
    lines.push("[mcp_servers." + quoted(name) + "]", "default_tools_approval_mode = \"approve\"");
    if (server.command) {
      lines.push("command = " + quoted(server.command));
      if (server.args) lines.push("args = [" + server.args.map(quoted).join(", ") + "]");
      if (server.env && Object.keys(server.env).length > 0) lines.push("env = " + table(server.env));
      if (server.cwd) lines.push("cwd = " + quoted(server.cwd));
    } else {
      lines.push("url = " + quoted(server.url));
      if (server.headers && Object.keys(server.headers).length > 0) lines.push("http_headers = " + table(server.headers));
    }
  }
  writeFileSync(env.CODEX_HOME + "/config.toml", lines.join("\n") + "\n", { mode: 0o600 });
'
model=()
if [ -n "$DAYBOOK_ENGINE_MODEL" ]; then model=(--model "$DAYBOOK_ENGINE_MODEL"); fi
codex exec --strict-config --skip-git-repo-check --ephemeral --sandbox workspace-write --add-dir "$RUNNER_TEMP/daybook" \
  ${model[@]+"${model[@]}"} - < "$DAYBOOK_PROMPT"
"#;

const INSTALL_GEMINI: &str = r#"set -euo pipefail
npm install --global --no-audit --no-fund "@google/gemini-cli@$DAYBOOK_ENGINE_VERSION"
"#;

/// Settings in a home of their own: those of the machine are not read.
const RUN_GEMINI: &str = r#"set -euo pipefail
export GEMINI_CLI_HOME=$RUNNER_TEMP/daybook/engine
mkdir -p "$GEMINI_CLI_HOME/.gemini"
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const { DAYBOOK_MCP_CONFIG, GEMINI_CLI_HOME } = process.env;
  const { mcpServers } = JSON.parse(readFileSync(DAYBOOK_MCP_CONFIG, "utf8"));
  for (const server of Object.values(mcpServers)) {
    server.trust = true;
    if (server.url && server.type !== "sse") {
      server.httpUrl = server.url;
      delete server.url;
    }
    delete server.type;
  }
  writeFileSync(GEMINI_CLI_HOME + "/.gemini/settings.json", JSON.stringify({ mcpServers }), { mode: 0o600 });
'
model=()
if [ -n "$DAYBOOK_ENGINE_MODEL" ]; then model=(--model "$DAYBOOK_ENGINE_MODEL"); fi
gemini --skip-trust --approval-mode auto_edit --include-directories "$RUNNER_TEMP/daybook" ${model[@]+"${model[@]}"} \
  < "$DAYBOOK_PROMPT"
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::ENGINE_IDS;

    #[test]
    fn every_engine_of_the_table_is_documented_as_it_is() {
        let page = include_str!("../../../../docs/engines.md");
        assert!(CLIS.iter().map(|cli| cli.id).eq(ENGINE_IDS.into_iter().filter(|id| *id != "custom")));
        for cli in &CLIS {
            let start = format!("| `{}` |", cli.id);
            let row = page.lines().find(|line| line.starts_with(&start)).expect(cli.id);
            let package = cli.install.split('"').nth(1).and_then(|text| text.rsplit_once('@')).expect("a package").0;
            for word in [package, cli.version, cli.secret, cli.key] {
                assert!(row.contains(word), "{word}: {row}");
            }
            assert!(cli.run.contains("< \"$DAYBOOK_PROMPT\"") && !cli.run.contains("${{"));
        }
    }

    /// An engine's step holds the key of its own service and no other.
    #[test]
    fn no_script_names_the_key_of_another_engine() {
        for cli in &CLIS {
            for other in CLIS.iter().filter(|other| other.id != cli.id) {
                assert!(!cli.run.contains(other.key) && !cli.install.contains(other.key), "{} {}", cli.id, other.id);
            }
        }
    }
}
