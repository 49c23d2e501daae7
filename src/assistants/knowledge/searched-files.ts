/**
 * The ids of the files to search, in SQL: those in a parameter, or those that the assistant of parameter 2 has now if it
 * is null. Not by `coalesce`: PostgreSQL assumes that it may reveal hidden rows, and would use no index of files or
 * passages for it under row-level security.
 */
export const searchedFiles = (given: "$3" | "$7"): string => `
  case when ${given}::text[] is null then array(
    select own.file_id from assistant_files own where own.organization_id = $1 and own.assistant_id = $2)
  else ${given} end`;
