"""Who may do what: role based access control, as Kubernetes' own authorizer reads roles and bindings.

A request becomes `attributes`; `grants` are the rules that bindings give to a user, kept in step with the store;
`authorizer` holds one against the other. `impersonate` lets a user act as another, `escalation` keeps roles from giving
what their writer does not have, `aggregation` fills the roles that are made of others, and `bootstrap` has the roles
that every cluster begins with.
"""
