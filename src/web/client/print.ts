export { print } from "graphql";
