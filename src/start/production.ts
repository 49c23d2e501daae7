// Outside production mode graphql-js runs assertions on every call: 20 % of the time of a large answer. The packages
// read this variable when they are loaded, so this module is the first import of a server.
process.env.NODE_ENV ??= "production";
