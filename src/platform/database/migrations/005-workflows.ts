import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

const TIMES = `
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()`;

export async function up(db: Knex): Promise<void> {
  // No foreign key to projects and assistants: a workflow outlives them, and says so in its problems.
  await createTenantTable(
    db,
    "workflows",
    `
    id text collate "C" not null,
    name text not null,
    description text,
    project_id text collate "C",
    ${TIMES}`,
  );
  await graph(db);
  await deployments(db);
  // A chat outlives what it was held by.
  await db.raw(`
    alter table chats
      add column workflow_id text collate "C",
      add column deployment_id text collate "C",
      add column workflow_node_id text collate "C",
      add column ending text`);
  for (const owner of ["workflow", "deployment"])
    await db.raw(
      `create index chats_${owner} on chats (organization_id, ${owner}_id, id) where ${owner}_id is not null`,
    );
}

async function graph(db: Knex): Promise<void> {
  const ofWorkflow = `foreign key (organization_id, workflow_id) references workflows (organization_id, id) on delete cascade`;
  const ofNode = (column: string) =>
    `foreign key (organization_id, workflow_id, ${column}) references workflow_nodes (organization_id, workflow_id, id) on delete cascade`;
  await createTenantTable(
    db,
    "workflow_nodes",
    `
    workflow_id text collate "C" not null,
    id text collate "C" not null,
    type text not null check (type in ('START', 'END', 'PROMPT', 'ACTION', 'CONDITION')),
    name text not null,
    assistant_id text collate "C",
    instructions text,
    function_name text,
    arguments jsonb not null default '{}',
    result_variable text,
    message text,
    end_reason text,
    metadata jsonb not null default '{}',
    ${TIMES},
    ${ofWorkflow}`,
    "workflow_id, id",
  );
  // Both ends lie in the edge's own workflow.
  await createTenantTable(
    db,
    "workflow_edges",
    `
    workflow_id text collate "C" not null,
    id text collate "C" not null,
    from_node_id text collate "C" not null,
    to_node_id text collate "C" not null,
    kind text not null check (kind in ('DEFAULT', 'MODEL', 'VARIABLE', 'FUNCTION')),
    rank integer not null default 0,
    description text,
    collects jsonb not null default '[]',
    variable text,
    operator text check (operator in ('EQUALS', 'NOT_EQUALS', 'CONTAINS', 'GREATER', 'LESS', 'IS_SET', 'IS_NOT_SET')),
    value text,
    function_name text,
    ${TIMES},
    ${ofWorkflow},
    ${ofNode("from_node_id")},
    ${ofNode("to_node_id")}`,
    "workflow_id, id",
  );
  await db.raw(
    `create index workflow_edges_from on workflow_edges (organization_id, workflow_id, from_node_id)`,
  );
  await db.raw(`create index workflow_edges_to on workflow_edges (organization_id, workflow_id, to_node_id)`);
  for (const table of ["workflow_nodes", "workflow_edges"])
    await db.raw(`create unique index ${table}_id on ${table} (organization_id, id)`);
  await db.raw(`create index workflows_project on workflows (organization_id, project_id, id)`);
}

async function deployments(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "deployments",
    `
    id text collate "C" not null,
    type text not null check (type in ('TEXT_IFRAME', 'TEXT_BUBBLE', 'VOICE_BUBBLE', 'VOICE_IFRAME', 'SMS', 'PHONE_OUTBOUND', 'PHONE_INBOUND', 'API')),
    enabled boolean not null default true,
    project_id text collate "C",
    assistant_id text collate "C",
    workflow_id text collate "C",
    telephony_connection_id text collate "C",
    ${TIMES},
    check ((assistant_id is null) <> (workflow_id is null)),
    foreign key (organization_id, workflow_id) references workflows (organization_id, id) on delete cascade`,
  );
  await db.raw(`create index deployments_project on deployments (organization_id, project_id, id)`);
  await db.raw(
    `create index deployments_workflow on deployments (organization_id, workflow_id) where workflow_id is not null`,
  );
  await db.raw(
    `create index deployments_connection on deployments (organization_id, telephony_connection_id) where telephony_connection_id is not null`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index chats_workflow, chats_deployment`);
  await db.raw(`
    alter table chats drop column workflow_id, drop column deployment_id, drop column workflow_node_id, drop column ending`);
  for (const table of ["deployments", "workflow_edges", "workflow_nodes", "workflows"])
    await db.raw(`drop table ${table}`);
}
