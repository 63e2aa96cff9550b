/** The pages `docs/reference/rest.md` and `errors.md`, made from the tables that the server uses. */
import { ERRORS, type ErrorCode, type ErrorEntry } from '@signalbox/protocol';
import { grpcCalls } from '../services/api/rest-operations.ts';
import { openPath } from './openapi.ts';
import {
  CHANGE_ERRORS,
  COMMON_ERRORS,
  GROUPS,
  type Group,
  OPERATIONS,
  type Operation,
  summaryOf,
} from './operations/index.ts';

type GrpcCalls = ReturnType<typeof grpcCalls>;

const words = (codes: readonly string[]): string => codes.map((code) => `\`${code}\``).join(', ');

function rowOf(operation: Operation, calls: GrpcCalls): string {
  const { id, method, path, roles, errors = [] } = operation;
  const who = roles === 'anyone' ? 'anyone' : roles.join(', ');
  return `| \`${method} ${openPath(path)}\` | ${summaryOf(operation)} | ${who} | ${words(errors)} | ${words(calls.get(id) ?? [])} |`;
}

export function restPage(): string {
  const calls = grpcCalls();
  const groups = (Object.keys(GROUPS) as Group[]).map((group) => {
    const rows = OPERATIONS.filter((operation) => operation.group === group).map((operation) =>
      rowOf(operation, calls),
    );
    return `## ${GROUPS[group]}\n\n| request | what it does | roles | specific errors | gRPC |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  return `# REST

Send \`Authorization: Bearer <token>\` with every request, except routes for anyone. A browser session (from a login link) uses a cookie instead; its
changes must come from the server's own page. Bodies are \`application/json\`, except bundles. There is no CORS. The server refuses host names that it does
not know. Times are ISO 8601 in UTC. All schemas are in \`/openapi.json\` (OpenAPI 3.1); \`/docs\` shows them as a page. This page is generated
from the server's table of operations.

${calls.size} of the ${OPERATIONS.length} operations are also available over [gRPC](grpc.md); the last column names the call.

Roles: \`admin\` can do everything; \`operator\` everything except tokens and retention; \`viewer\` can read; \`worker\` can run tasks and read metrics.

Lists take \`limit\` (1 to 500) and \`cursor\`, and return \`{ "items", "cursor" }\`. \`cursor\` is null on the last page.

Send an \`Idempotency-Key\` (up to 255 printable characters) with every change: one key, one outcome, per operation and target. The same key with
another body is refused with \`409 IDEMPOTENCY_CONFLICT\`. Keys of submissions live as long as their runs, other keys for a day.

Errors are \`application/problem+json\`: a \`code\` for programs, \`detail\` and \`remedy\` for people, \`problems\` with the path of each invalid field, and
\`retryable\`. See [errors](errors.md). After \`503\` nothing has changed. After \`504\` or a lost connection, send the request again with the same key. Any
request can fail with ${words(COMMON_ERRORS)}, \`UNAUTHENTICATED\` or \`FORBIDDEN\`, any change also with ${words(CHANGE_ERRORS)}.

| limit | |
| --- | --- |
| body | 1 MiB; batch and deploy 8 MiB; bundle 10 MiB; lines of an import 32 MiB |
| params | 256 KiB of JSON, 64 levels deep |
| output of a task | 8 MiB of JSON |
| headers | 100 |
| time | 10 s per request, including its body; no limit for streams |
| open streams per token | 100 |
| requests per token | 2,000 per second, bursts of 4,000 (\`SIGNALBOX_RATE\`; 0 for no limit) |
| submitted runs per token | 100,000 per second, bursts of 200,000 (\`SIGNALBOX_RUN_RATE\`; 0 for no limit) |
| submitted runs that are not created yet | 20,000 per server, 15,000 per token, low priority half of it; beyond that \`LOAD_SHED\` |
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

An error has a code for programs, a message for people, and a remedy. Words in braces are filled in. *Again*: the same request, with the same
idempotency key, can succeed later. This page is generated from the error table.

| code | HTTP | gRPC | again | message | remedy |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`;
}
