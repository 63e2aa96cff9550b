/** The pages `docs/reference/rest.md` and `errors.md`, made from the tables that the server goes by. */
import { ERRORS, type ErrorCode, type ErrorEntry } from '@signalbox/protocol';
import { grpcCalls } from '../services/api/rest-operations.ts';
import { openPath } from './openapi.ts';
import { CHANGE_ERRORS, COMMON_ERRORS, GROUPS, type Group, OPERATIONS, type Operation } from './operations/index.ts';

type GrpcCalls = ReturnType<typeof grpcCalls>;

const words = (codes: readonly string[]): string => codes.map((code) => `\`${code}\``).join(', ');

function rowOf({ id, method, path, summary, roles, errors = [] }: Operation, calls: GrpcCalls): string {
  const who = roles === 'anyone' ? 'anyone' : roles.join(', ');
  return `| \`${method} ${openPath(path)}\` | ${summary} | ${who} | ${words(errors)} | ${words(calls.get(id) ?? [])} |`;
}

export function restPage(): string {
  const calls = grpcCalls();
  const groups = (Object.keys(GROUPS) as Group[]).map((group) => {
    const rows = OPERATIONS.filter((operation) => operation.group === group).map((operation) =>
      rowOf(operation, calls),
    );
    return `## ${GROUPS[group]}\n\n| request | what it does | for | refusals of its own | gRPC |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  return `# REST

Every request but those for anyone carries \`Authorization: Bearer <token>\`, or the cookie of a session that a login link opened; a change by a
session must come from the server's own page. What is sent is \`application/json\`, but for bundles. There is no CORS, and requests under a name that
the server was not told of are refused. Instants are ISO 8601 in UTC. The whole of it, with shapes, is at \`/openapi.json\` (OpenAPI 3.1) and, to
be read, at \`/docs\`. This page is made from the table that the server goes by.

${calls.size} of the ${OPERATIONS.length} operations can be asked for over [gRPC](grpc.md) too; the last column names the call.

Roles: \`admin\` may everything; \`operator\` all but tokens and retention; \`viewer\` reads; \`worker\` runs tasks, and sees metrics.

Lists take \`limit\` (1 to 500) and \`cursor\`, and answer \`{ "items", "cursor" }\`; \`cursor\` is null at the end.

Every change takes an \`Idempotency-Key\` (up to 255 printable characters): one key, one outcome, within operation and target. The same key with
another body is a \`409 IDEMPOTENCY_CONFLICT\`. Keys of submissions live as long as their runs, all others for a day.

Errors are \`application/problem+json\` with a \`code\` for programs, a \`detail\` and a \`remedy\` for people, \`problems\` with the place of each fault, and
\`retryable\`: see [errors](errors.md). With \`503\` nothing was done; after \`504\` or a lost connection it may have been: ask again with the same key. Any
request may be refused with ${words(COMMON_ERRORS)}, \`UNAUTHENTICATED\` or \`FORBIDDEN\`, any change with ${words(CHANGE_ERRORS)}.

| limit | |
| --- | --- |
| body | 1 MiB; batch and deploy 8 MiB; bundle 10 MiB |
| params | 256 KiB of JSON, 64 levels deep |
| output of a task | 8 MiB of JSON |
| headers | 100 |
| time | 10 s a request, its body included; streams have no end |
| streams of one token | 100 at a time |
| requests of one token | 2,000 a second, 4,000 at once (\`SIGNALBOX_RATE\`; 0 for no limit) |
| runs that one token submits | 100,000 a second, 200,000 at once (\`SIGNALBOX_RUN_RATE\`; 0 for no limit) |
| runs submitted and not created yet | 20,000 of a server, 15,000 of them of one token; beyond that \`OVERLOADED\` |
| wrong credentials from one address | 20 a minute |

${groups.join('\n\n')}`;
}

export function errorsPage(): string {
  const rows = (Object.entries(ERRORS) as [ErrorCode, ErrorEntry][])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { http, grpc, retryable, message, remedy }]) => {
      return `| \`${code}\` | ${http} | \`${grpc}\` | ${retryable ? 'yes' : ''} | ${message} | ${remedy} |`;
    });
  return `# Errors

An error has a code for programs, a sentence for people, and says what to do. Words in braces are filled in. *Again*: the same request, with the same
idempotency key, may succeed later. Made from the one table of errors.

| code | HTTP | gRPC | again | message | remedy |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`;
}
