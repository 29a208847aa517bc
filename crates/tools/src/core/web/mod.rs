//! `web_fetch`: one page of the public web as text.
//!
//! Every origin (scheme, host, port) is asked about once; a redirect to another origin is asked about when
//! it is met, and not followed without a yes. `fetch.rs` holds what keeps it away from private addresses.

mod address;
mod fetch;
mod origin;
mod tame;
mod text;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use rustls::ClientConfig;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::adapt::define;
use super::error::CoreError;
use super::options::{CoreLimits, CoreOptions, WebOptions};
use crate::{ApprovalNeed, CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};
pub use address::is_public as is_public_address;
pub use fetch::{HostResolver, SystemResolver};
use origin::{HostPattern, Origin};
use text::Kind;

const MAX_REDIRECTS: usize = 5;
const MAX_CHARS: usize = 1_000_000;

/// The tool.
pub(crate) struct WebFetchTool {
    definition: ToolDefinition,
    options: WebOptions,
    allowed: Vec<HostPattern>,
    limits: CoreLimits,
    tls: ClientConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    url: String,
    max_chars: Option<usize>,
}

impl WebFetchTool {
    pub(crate) fn new(options: &CoreOptions) -> Result<Self, CoreError> {
        let limits = options.limits.clone();
        let description = format!(
            "Fetch a page of the public web with GET. HTML comes as readable text, other text as it is, binary content is refused. \
             At most {} MiB are read and {} characters given unless maxChars says otherwise. Private addresses are refused.",
            limits.fetch_bytes / (1024 * 1024),
            limits.fetch_default_chars
        );
        let definition = define(
            "web_fetch",
            &description,
            parameters(limits.fetch_default_chars),
        )?
        .read_only()
        .with_output(output());
        let allowed = options
            .web
            .allow_hosts
            .iter()
            .map(|entry| HostPattern::parse(entry))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            definition,
            options: options.web.clone(),
            allowed,
            limits,
            tls: fetch::tls()?,
        })
    }
}

fn parameters(default_chars: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1, "description": "http or https"},
            "maxChars": {"type": "integer", "minimum": 1, "maximum": MAX_CHARS, "description": format!("Most characters of text; {default_chars} without it")}
        },
        "required": ["url"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The address after redirects"},
            "status": {"type": "integer", "description": "HTTP status; an error page is a result too"},
            "contentType": {"type": "string"},
            "text": {"type": "string"},
            "truncated": {"type": "boolean", "description": "There is more text"}
        },
        "required": ["url", "status", "contentType", "text", "truncated"]
    })
}

#[async_trait]
impl Tool for WebFetchTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let args: Args = input.parse()?;
        tokio::select! {
            result = self.fetch(&args, ctx) => result.map(ToolOutput::details).map_err(ToolError::without_effect),
            () = ctx.abort.cancelled() => Err(CoreError::Stopped.into()),
        }
    }

    fn approvals(
        &self,
        input: &ToolInput,
        _: &CallContext,
    ) -> Result<Vec<ApprovalNeed>, ToolError> {
        let args: Args = input.parse()?;
        let (_, origin) = origin::parse(&args.url)?;
        Ok(if self.is_allowed(&origin) {
            Vec::new()
        } else {
            vec![need(&origin, None)]
        })
    }
}

/// One question for each origin, whatever is fetched from it.
fn need(origin: &Origin, redirected_from: Option<&Origin>) -> ApprovalNeed {
    let shown = origin.shown();
    let reason = match redirected_from {
        None => format!("fetches from {shown}"),
        Some(from) => format!(
            "was redirected by {} and fetches from {shown}",
            from.shown()
        ),
    };
    ApprovalNeed {
        key: format!("origin {shown}"),
        reason,
        covers: format!("everything that web_fetch gets from {shown}"),
        asked_once: true,
    }
}

impl WebFetchTool {
    fn is_allowed(&self, origin: &Origin) -> bool {
        self.allowed.iter().any(|pattern| pattern.matches(origin))
    }

    fn may_be_private(&self, origin: &Origin) -> bool {
        self.options.allow_private
            || self
                .allowed
                .iter()
                .any(|pattern| pattern.names_host() && pattern.matches(origin))
    }

    async fn fetch(&self, args: &Args, ctx: &CallContext) -> Result<Value, ToolError> {
        let (mut url, mut at) = origin::parse(&args.url)?;
        let mut left = Duration::from_millis(self.limits.fetch_timeout_ms);
        for _ in 0..=MAX_REDIRECTS {
            let begun = Instant::now();
            let response = self.hop(&url, &at, left).await?;
            left = left.saturating_sub(begun.elapsed());
            let Some(next) = redirect(&url, &response)? else {
                let answer = self.answer(&url, response, args, left).await?;
                return Ok(answer);
            };
            let to = origin::origin(&next)?;
            if to != at && !self.is_allowed(&to) {
                ctx.approvals.ask(need(&to, Some(&at))).await?;
            }
            (url, at) = (next, to);
        }
        Err(CoreError::Transfer(format!(
            "{} was redirected more than {MAX_REDIRECTS} times",
            args.url
        ))
        .into())
    }

    async fn hop(&self, url: &Url, at: &Origin, left: Duration) -> Result<Response, CoreError> {
        let private = self.may_be_private(at);
        let work = async {
            let addresses =
                fetch::addresses(url, at, self.options.resolver.as_ref(), private).await?;
            fetch::request(url, addresses, self.tls.clone(), left).await
        };
        in_time(left, work).await
    }

    async fn answer(
        &self,
        url: &Url,
        response: Response,
        args: &Args,
        left: Duration,
    ) -> Result<Value, CoreError> {
        let status = response.status().as_u16();
        let content_type = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or("")
            .to_owned();
        let kind = text::kind(&content_type);
        let binary = |bytes: String| {
            let shown = if content_type.is_empty() {
                "of no declared type"
            } else {
                &content_type
            };
            CoreError::Refused(format!(
                "{url} is not text but {shown}, {bytes}; web_fetch gives text only"
            ))
        };
        if kind == Kind::Binary {
            let bytes = response
                .content_length()
                .map_or("of unknown size".to_owned(), |n| format!("{n} bytes"));
            return Err(binary(bytes));
        }
        let (body, cut) = in_time(left, fetch::body(response, self.limits.fetch_bytes)).await?;
        if kind == Kind::Unknown && !text::looks_like_text(&body) {
            return Err(binary(format!("{} bytes", body.len())));
        }
        let decoded = text::decode(&body, &content_type);
        let text = if kind == Kind::Html {
            lay_out(decoded).await?
        } else {
            decoded
        };
        let limit = args
            .max_chars
            .unwrap_or(self.limits.fetch_default_chars)
            .min(MAX_CHARS);
        let end = text.char_indices().nth(limit).map(|(at, _)| at);
        let shown = end.map_or(text.as_str(), |end| &text[..end]);
        Ok(json!({
            "url": url.as_str(), "status": status, "contentType": content_type, "text": shown, "truncated": cut || end.is_some(),
        }))
    }
}

async fn in_time<T>(
    left: Duration,
    work: impl Future<Output = Result<T, CoreError>>,
) -> Result<T, CoreError> {
    let late = || CoreError::Transfer("the server did not answer in time".to_owned());
    tokio::time::timeout(left, work)
        .await
        .unwrap_or_else(|_| Err(late()))
}

/// Layout is slow enough for large pages to deserve a thread that may block.
async fn lay_out(html: String) -> Result<String, CoreError> {
    let task = tokio::task::spawn_blocking(move || text::readable(&html));
    task.await.unwrap_or_else(|_| {
        Err(CoreError::Transfer(
            "the page cannot be laid out as text".to_owned(),
        ))
    })
}

/// Where a redirect leads.
fn redirect(url: &Url, response: &Response) -> Result<Option<Url>, CoreError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
    else {
        return Ok(None);
    };
    let next = url.join(location).map_err(|error| {
        CoreError::Transfer(format!("the redirect of {url} leads nowhere: {error}"))
    })?;
    Ok(Some(next))
}
