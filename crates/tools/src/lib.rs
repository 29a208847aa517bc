//! Tools: the traits, policy, approvals, the one executor, and the core tools.
//!
//! Every tool call of the process, direct or nested, goes through [`Executor::call`]: there is no
//! other way from a name and arguments to [`Tool::call`]. What policy removed is not in a
//! [`ToolSet`], and what is not in a [`ToolSet`] cannot be named, found or called.
//!
//! This crate knows no guest, no model provider and no terminal: an [`Approver`] asks people, an
//! [`EventSink`] keeps events, and a [`ModelSurface`] is what a model is shown.
#![forbid(unsafe_code)]

pub mod approval;
pub mod context;
pub mod core;
pub mod error;
pub mod event;
pub mod executor;
pub mod hook;
pub mod output;
pub mod policy;
pub mod redact;
pub mod schema;
pub mod surface;
pub mod tool;
pub mod toolset;

pub use approval::{
    ApprovalDesk, ApprovalMode, ApprovalNeed, ApprovalOptions, ApprovalRequest, Approver,
    AskFallback, Decision, MidCallApprovals,
};
pub use codecell_catalog::{Tier, ToolId};
pub use codecell_protocol::{CallState, EffectKind};
pub use context::CallContext;
pub use core::is_public_address;
pub use error::{FailureEffect, ToolError};
pub use event::{EventSink, NoEvents, ToolEvent, ToolEventKind};
pub use executor::{
    CallFailure, CallProgress, CallReport, CallRequest, CallStep, Executor, ExecutorOptions,
    ExecutorParts, NoProgress,
};
pub use hook::{BeforeCall, Hook};
pub use output::{ContentBlock, ResourceContent, ToolOutput, json_bytes};
pub use policy::{Policy, PolicyError, PolicyOptions, PolicyRules, Profile, Verdict};
pub use redact::Redactor;
pub use surface::{ModelSurface, SurfaceContext, SurfaceResult, SurfaceTool};
pub use tool::{Execution, Tool, ToolDefinition, ToolInput, ToolSource};
pub use toolset::{LookupError, StartingTools, ToolSet, ToolSetError};
