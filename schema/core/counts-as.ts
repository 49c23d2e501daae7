import { Extensions } from "type-graphql";

/** Sets the cost of a field whose object is as large as several, for example because it has all messages of a chat. */
export const CountsAs = (objects: number): ReturnType<typeof Extensions> => Extensions({ countsAs: objects });
