//! Which role may call which tools.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use crate::{
    pattern::Names,
    policy::{
        PolicyError,
        document::{GrantDocument, Otherwise, RolesDocument},
        quoted,
        strict::{Section, Word},
    },
};

/// The roles of a policy. Without the section every tool is permitted.
#[derive(Debug, Clone, Default)]
pub struct Roles(Option<Granted>);

#[derive(Debug, Clone)]
struct Granted {
    default: Option<String>,
    otherwise: Otherwise,
    grants: BTreeMap<String, Grant>,
}

#[derive(Debug, Clone)]
struct Grant {
    allow: Names,
    deny: Names,
}

impl Roles {
    /// Whether the role may call the tool: `deny` wins over `allow`, and what neither names is as `otherwise` says.
    ///
    /// A session without a role has the default one. A role that the policy does not know may call nothing; neither may
    /// a session without a role if there is no default.
    #[must_use]
    pub fn permits(&self, role: Option<&str>, tool: &str) -> bool {
        let Some(granted) = &self.0 else {
            return true;
        };
        let role = role.or(granted.default.as_deref());
        match role.and_then(|role| granted.grants.get(role)) {
            Some(grant) => grant.permits(tool, granted.otherwise),
            None => false,
        }
    }

    /// The role of a session that was given none.
    #[must_use]
    pub fn default_role(&self) -> Option<&str> {
        self.0.as_ref()?.default.as_deref()
    }

    /// Reads the section; the errors begin with the key in it.
    pub(crate) fn read(Section(document): Section<RolesDocument>) -> Result<Self, PolicyError> {
        let RolesDocument { default, otherwise, grants } = document;
        let grants = grants.unwrap_or_default().0.into_iter();
        let grants = grants.map(|(role, grant)| (role, Grant::read(grant))).collect::<BTreeMap<_, _>>();
        if let Some(role) = default.as_ref().filter(|role| !grants.contains_key(*role)) {
            return Err(no_such_role(role, &grants));
        }
        let otherwise = otherwise.map_or(Otherwise::Deny, |Word(otherwise)| otherwise);
        Ok(Self(Some(Granted { default, otherwise, grants })))
    }
}

impl Grant {
    fn read(section: Option<Section<GrantDocument>>) -> Self {
        let document = section.map_or_else(GrantDocument::default, |Section(document)| document);
        Self { allow: document.allow.unwrap_or_default(), deny: document.deny.unwrap_or_default() }
    }

    fn permits(&self, tool: &str, otherwise: Otherwise) -> bool {
        !self.deny.matches(tool) && (otherwise == Otherwise::Allow || self.allow.matches(tool))
    }
}

fn no_such_role(role: &str, grants: &BTreeMap<String, Grant>) -> PolicyError {
    let known = grants.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let what = alloc::format!("{} is not among the grants ({known}): add it there or correct the name", quoted(role));
    PolicyError::invalid("default", what)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::*;

    fn roles(json: &str) -> Result<Roles, String> {
        Roles::read(serde_json::from_str(json).unwrap()).map_err(|error| error.to_string())
    }

    const TWO: &str = r#"{"default": "reader", "grants": {
        "reader": {"allow": ["get_*", "list_*"], "deny": "get_secret"},
        "admin": {"allow": "*"}}}"#;

    #[test]
    fn without_roles_everything_is_permitted() {
        assert!(Roles::default().permits(None, "drop_table") && Roles::default().permits(Some("x"), "drop_table"));
    }

    #[test]
    fn what_is_not_granted_is_denied_by_default() {
        let roles = roles(TWO).unwrap();
        assert!(roles.permits(Some("reader"), "GET_user"));
        assert!(!roles.permits(Some("reader"), "set_user"));
        assert!(roles.permits(Some("admin"), "set_user"));
    }

    #[test]
    fn deny_wins_over_allow() {
        assert!(!roles(TWO).unwrap().permits(Some("reader"), "get_secret"));
    }

    #[test]
    fn otherwise_allow_permits_what_is_not_denied() {
        let roles = roles(r#"{"otherwise": "allow", "grants": {"guest": {"deny": "delete_*"}}}"#).unwrap();
        assert!(roles.permits(Some("guest"), "anything") && !roles.permits(Some("guest"), "delete_user"));
    }

    #[test]
    fn a_session_without_a_role_has_the_default_one() {
        let with_default = roles(TWO).unwrap();
        assert!(with_default.permits(None, "list_users") && !with_default.permits(None, "set_user"));
        assert_eq!(with_default.default_role(), Some("reader"));
        let without = roles(r#"{"otherwise": "allow", "grants": {"guest": {}}}"#).unwrap();
        assert!(!without.permits(None, "list_users"));
    }

    #[test]
    fn an_unknown_role_may_call_nothing() {
        let roles = roles(r#"{"otherwise": "allow", "grants": {"guest": {"allow": "*"}}}"#).unwrap();
        assert!(!roles.permits(Some("Guest"), "x") && !roles.permits(Some(""), "x"));
    }

    #[test]
    fn a_role_with_an_empty_grant_may_call_nothing() {
        for json in [r#"{"grants": {"guest": null}}"#, r#"{"grants": {"guest": {}}}"#, r#"{"grants": null}"#] {
            assert!(!roles(json).unwrap().permits(Some("guest"), "x"), "{json}");
        }
    }

    #[test]
    fn a_default_that_is_not_granted_is_an_error() {
        let error = roles(r#"{"default": "user", "grants": {"admin": {}, "guest": {}}}"#).unwrap_err();
        assert!(error.starts_with("default: \"user\" is not among the grants (admin, guest)"), "{error}");
    }
}
