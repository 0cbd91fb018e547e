//! From the bytes of a document to a checked policy.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde_json::error::Category;

use super::{
    Loops, Policy, PolicyError, PolicyErrorKind, Progress,
    document::{
        BudgetsDocument, Document, LimitsDocument, LoopsDocument, ProgressDocument, RolesDocument, ToolDocument,
    },
    entry::Entry,
    messages,
    strict::{Section, Table, Word},
};
use crate::{budget::Budgets, roles::Roles};

/// The version of the document that this build reads.
const VERSION: u64 = 1;

/// The longest arguments, in bytes, if the policy says nothing.
const ARGUMENT_BYTES: usize = 8 << 20;

type Optional<T> = Option<Section<T>>;

pub(super) fn policy(bytes: &[u8]) -> Result<Policy, PolicyError> {
    let Section(document) = parsed(bytes)?;
    check_version(&document)?;
    let loops = loops(document.loops)?;
    Ok(Policy {
        name: document.name.unwrap_or_else(|| "unnamed".into()),
        description: document.description.unwrap_or_default(),
        mode: document.mode.map(|Word(mode)| mode).unwrap_or_default(),
        on_error: document.on_error.map(|Word(on_error)| on_error).unwrap_or_default(),
        argument_bytes: argument_bytes(document.limits)?,
        entries: entries(document.tools.unwrap_or_default(), &loops)?,
        loops,
        roles: roles(document.roles)?,
        budgets: budgets(document.budgets)?,
        progress: progress(document.progress),
        messages: texts(document.messages)?,
    })
}

fn parsed(bytes: &[u8]) -> Result<Section<Document>, PolicyError> {
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let what = format!("byte {} is not UTF-8: save the document as UTF-8", error.valid_up_to());
        PolicyError::new(PolicyErrorKind::NotUtf8, "policy", what)
    })?;
    serde_json::from_str(text).map_err(|error| not_a_policy(&error))
}

fn not_a_policy(error: &serde_json::Error) -> PolicyError {
    if error.classify() == Category::Data {
        return PolicyError::invalid("policy", format!("{error}: correct that key or value"));
    }
    let what = format!("not JSON: {error} (YAML is for the Python package: microloop policy show FILE --json)");
    PolicyError::new(PolicyErrorKind::NotJson, "policy", what)
}

fn check_version(document: &Document) -> Result<(), PolicyError> {
    if document.version != VERSION {
        let what = format!("{} is unknown, this build reads {VERSION}: write \"version\": {VERSION}", document.version);
        return Err(PolicyError::invalid("version", what));
    }
    if document.extends.is_some() {
        let what = "the core reads no other documents: resolve it first with microloop policy show FILE --json";
        return Err(PolicyError::invalid("extends", what));
    }
    Ok(())
}

fn loops(section: Optional<LoopsDocument>) -> Result<Loops, PolicyError> {
    let document = section.map_or_else(LoopsDocument::default, |Section(loops)| loops);
    Loops::default().amended(&document).map_err(|error| error.within("loops"))
}

fn argument_bytes(section: Optional<LimitsDocument>) -> Result<usize, PolicyError> {
    match section.and_then(|Section(limits)| limits.argument_bytes) {
        None => Ok(ARGUMENT_BYTES),
        Some(bytes @ 0..2) => {
            let what = format!("{bytes} is less than the shortest arguments ({{}}) have: write 2 or more");
            Err(PolicyError::invalid("limits.argument_bytes", what))
        }
        Some(bytes) => Ok(usize::try_from(bytes).unwrap_or(usize::MAX)),
    }
}

fn entries(documents: Vec<Section<ToolDocument>>, loops: &Loops) -> Result<Vec<Entry>, PolicyError> {
    let read = |(at, document)| Entry::read(document, loops).map_err(|error| error.within(format!("tools[{at}]")));
    documents.into_iter().enumerate().map(read).collect()
}

fn roles(section: Optional<RolesDocument>) -> Result<Roles, PolicyError> {
    let roles = section.map(Roles::read).transpose().map_err(|error| error.within("roles"))?;
    Ok(roles.unwrap_or_default())
}

fn budgets(section: Optional<BudgetsDocument>) -> Result<Budgets, PolicyError> {
    let budgets = section.map(Budgets::read).transpose().map_err(|error| error.within("budgets"))?;
    Ok(budgets.unwrap_or_default())
}

fn progress(section: Optional<ProgressDocument>) -> Progress {
    section.map_or_else(Progress::default, |Section(ProgressDocument { stalled, regressing, cooldown_steps })| {
        Progress {
            stalled: stalled.map(|Word(reaction)| reaction),
            regressing: regressing.map(|Word(reaction)| reaction),
            cooldown_steps,
        }
    })
}

fn texts(table: Option<Table<Option<String>>>) -> Result<BTreeMap<String, String>, PolicyError> {
    let given = table.unwrap_or_default().0.into_iter();
    messages::read(Table(given.filter_map(|(reason, text)| Some((reason, text?))).collect()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::{super::*, *};

    fn refusal(json: &str) -> PolicyError {
        Policy::from_json(json.as_bytes()).unwrap_err()
    }

    fn invalid(json: &str) -> String {
        let error = refusal(json);
        assert_eq!(error.kind, PolicyErrorKind::Invalid, "{error}");
        error.message
    }

    #[test]
    fn the_shortest_policy_switches_everything_off() {
        let policy = Policy::from_json(br#"{"version": 1}"#).unwrap();
        assert_eq!((policy.name(), policy.description(), policy.mode()), ("unnamed", "", Mode::Enforce));
        assert_eq!((policy.loops(), policy.budgets()), (&Loops::default(), &Budgets::default()));
        assert_eq!((policy.progress(), policy.messages().len()), (Progress::default(), 0));
        let tool = policy.tool("any").unwrap();
        assert_eq!((tool.argument_bytes, tool.on_error), (8_388_608, OnError::Block));
        assert!(policy.roles().permits(None, "any"));
    }

    #[test]
    fn every_section_is_read() {
        let policy = Policy::from_json(include_bytes!("full.json")).unwrap();
        assert_eq!((policy.name(), policy.description(), policy.mode()), ("full", "All of it", Mode::Observe));
        assert_eq!(policy.loops().scope, Scope::Session);
        assert_eq!(policy.loops().backoff.map(|backoff| backoff.wait_ms(2)), Some(2_000));
        assert_eq!(policy.budgets().wall_ms, Some(3_600_000));
        assert_eq!(policy.budgets().model.tokens.map(|budget| budget.tools), Some(80_000));
        assert_eq!(policy.progress().stalled, Some(Reaction::Replan));
        assert_eq!(policy.progress().cooldown_steps, Some(5));
        assert_eq!(policy.messages().get("budget.calls").map(String::as_str), Some("That was all."));
        assert!(policy.roles().permits(None, "query_database") && !policy.roles().permits(None, "drop"));
        let tool = policy.tool("Query_Database").unwrap();
        assert_eq!((tool.effect, tool.argument_bytes, tool.on_error), (Some(Effect::Read), 1_000, OnError::Block));
        assert_eq!((tool.rules.len(), tool.argument_schemas.len(), tool.messages.len()), (4, 1, 2));
    }

    #[test]
    fn what_is_not_a_document_is_told_apart() {
        assert_eq!(Policy::from_json(b"{\"version\": \"\xff\"}").unwrap_err().kind, PolicyErrorKind::NotUtf8);
        let deep = format!(r#"{{"version": 1, "tools": [{{"match": "x", "arguments": {}"#, "[".repeat(10_000));
        for json in ["", "{", "version: 1", r#"{"version": 1} x"#, "{'version': 1}", &deep] {
            assert_eq!(refusal(json).kind, PolicyErrorKind::NotJson, "{json:.20}");
        }
        for json in ["[]", "[1]", "1", "null", r#""version""#, "{}", r#"{"version": "1"}"#] {
            assert_eq!(refusal(json).kind, PolicyErrorKind::Invalid, "{json}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_column() {
        for (json, key) in [
            ("{\n\"version\": 1,\n\"lops\": {}}", "lops"),
            ("{\"version\": 1,\n\"loops\": {\n\"repaet\": {}}}", "repaet"),
            ("{\"version\": 1,\n\"tools\": [{\"match\": \"x\",\n\"efect\": \"read\"}]}", "efect"),
            ("{\"version\": 1,\n\"loops\": {\"repeat\":\n{\"wran\": 3}}}", "wran"),
        ] {
            let message = invalid(json);
            assert!(message.contains(&format!("unknown field `{key}`")), "{message}");
            assert!(message.contains("expected") && message.contains("at line 3 column"), "{message}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_an_error() {
        assert!(invalid(r#"{"version": 1, "version": 1}"#).contains("duplicate field `version`"));
        let grants = r#"{"version": 1, "roles": {"grants": {"a": {"deny": "*"}, "a": {"allow": "*"}}}}"#;
        assert!(invalid(grants).contains("duplicate field `a`"));
    }

    #[test]
    fn a_version_or_a_base_that_the_core_cannot_read_is_an_error() {
        assert!(invalid(r#"{"version": 2}"#).starts_with("version: 2 is unknown"));
        assert!(invalid(r#"{"name": "x"}"#).contains("missing field `version`"));
        assert!(invalid(r#"{"version": 1, "extends": "balanced"}"#).contains("resolve it first"));
        assert!(Policy::from_json(br#"{"version": 1, "extends": null}"#).is_ok());
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (section, place) in [
            (r#""loops": {"cycle": {"halt": 1}}"#, "loops.cycle.halt: "),
            (r#""limits": {"argument_bytes": 1}"#, "limits.argument_bytes: "),
            (r#""budgets": {"per_minute": 20000}"#, "budgets.per_minute: "),
            (r#""budgets": {"usd": -1}"#, "budgets.usd: "),
            (r#""roles": {"default": "x", "grants": {}}"#, "roles.default: "),
            (r#""messages": {"x": "y"}"#, "messages: "),
            (
                r#""tools": [{"match": "a"}, {"match": "b", "loops": {"near": {"warn": 1}}}]"#,
                "tools[1].loops.near.warn: ",
            ),
            (
                r#""tools": [{"match": "a", "rules": [{"id": "r", "path": "x", "require": {"regex": "["}}]}]"#,
                "tools[0].rules[0].require.regex: ",
            ),
        ] {
            let message = invalid(&format!(r#"{{"version": 1, {section}}}"#));
            assert!(message.starts_with(place), "{message}");
        }
    }

    #[test]
    fn a_pattern_that_the_core_cannot_run_has_a_kind_of_its_own() {
        let json = r#"{"version": 1, "tools": [{"match": "a", "rules": [{"id": "r", "path": "x", "deny": {"regex": "a(?!b)"}}]}]}"#;
        let error = refusal(json);
        assert_eq!(error.kind, PolicyErrorKind::UnsupportedRegex);
        assert!(error.to_string().starts_with("tools[0].rules[0].deny.regex: \"a(?!b)\""), "{error}");
    }

    #[test]
    fn null_takes_a_section_away_and_is_an_error_where_nothing_could_be_meant() {
        let json = r#"{"version": 1, "loops": null, "tools": null, "roles": null, "budgets": null, "progress": null, "limits": null, "messages": {"loop.repeat": null}}"#;
        assert!(Policy::from_json(json.as_bytes()).unwrap().messages().is_empty());
        for section in [
            r#""mode": null"#,
            r#""tools": [{"match": null}]"#,
            r#""tools": [{"match": "a", "rules": [{"id": "r", "path": "x", "deny": {"regex": null}}]}]"#,
        ] {
            assert!(invalid(&format!(r#"{{"version": 1, {section}}}"#)).contains("null"), "{section}");
        }
    }
}
