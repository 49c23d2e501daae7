// graphql-js checks itself on every call unless it is told that this is no development: a fifth of a large answer's time.
// Read when the packages are loaded, so this is the first import of a server.
process.env.NODE_ENV ??= "production";
