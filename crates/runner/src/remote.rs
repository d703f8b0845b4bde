//! Where a job finds the memory branches.

/// The repository and its token; flatten it into the binary's own arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RemoteArgs {
    /// Address of the repository with the memory branches [default: the workflow's own]
    #[arg(long, value_name = "URL", env = "DAYBOOK_REMOTE")]
    pub remote: Option<String>,
    /// Variable that holds the token for the remote [default: `DAYBOOK_TOKEN`, then `GITHUB_TOKEN`, then none]
    #[arg(long, value_name = "NAME", env = "DAYBOOK_TOKEN_ENV")]
    pub token_env: Option<String>,
}
