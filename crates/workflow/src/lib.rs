//! A typed model of GitHub Actions workflows and a stable printer for it (DESIGN §3, §5).
//!
//! What GitHub does not have cannot be expressed: a permission is a cell of a table, every grant has its reason, only
//! an [`Expr`] prints `${{ }}`, and the text of a `run` step cannot hold one.
//!
//! ```
//! use daybook_workflow::{Expr, Grant, Level, Permissions, Scope, Script, Text};
//!
//! let grant = Grant::new(Scope::Contents, Level::Read, "restores the memory")?;
//! let permissions = Permissions::default().with(grant);
//! assert_eq!(permissions.level(Scope::Contents), Some(Level::Read));
//! assert!(Grant::new(Scope::Models, Level::Write, "no such cell").is_err());
//!
//! assert!(Script::new("echo ${{ github.token }}").is_err());
//! assert!(Text::inert("a prompt with ${{ secrets.X }}").is_err());
//! assert_eq!(Text::from(Expr::fixed("github.run_id")).to_string(), "${{ github.run_id }}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod author;
mod expr;
mod model;
mod permission;
mod print;
mod quote;
mod script;
mod text;

pub use action::{PinFault, PinnedAction};
pub use author::{AuthorFault, Secrets, expressions};
pub use expr::{Condition, Expr};
pub use model::{Action, Job, Step, Workflow};
pub use permission::{Grant, GrantFault, Level, Permissions, Scope};
pub use print::{Item, Node};
pub use script::{HasExpression, Script};
pub use text::Text;
