/** The docs page: the table of operations for people. Made once; it contains nothing from users. */
import { ERRORS, type ErrorEntry } from '@signalbox/protocol';
import { type Json, openApi, openPath } from '../openapi.ts';
import { errorsOf, GROUPS, type Group, isChange, OPERATIONS, type Operation } from '../operations/index.ts';
import { makePage, type Page, text } from './page.ts';
import { shapeOf } from './shape.ts';

export function docsPage(): Page {
  const document = openApi();
  const groups = (Object.keys(GROUPS) as Group[]).map((group) => groupOf(group, document));
  const links = Object.entries(GROUPS).map(([group, title]) => `<a href="#${group}">${text(title)}</a>`);
  return makePage({
    title: 'Signalbox API',
    body: `<header><h1>Signalbox API</h1><nav><a href="/">Overview</a><a href="/openapi.json">openapi.json</a></nav></header>
<main><p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Bodies are <code>application/json</code>. Every change takes an
<code>Idempotency-Key</code>: one key, one outcome, for a day. Lists take <code>limit</code> and <code>cursor</code> and answer
<code>{ items, cursor }</code>. Errors are <code>application/problem+json</code> with a code, a sentence and a remedy.</p>
<p class="soft">${links.join(' · ')}</p>${groups.join('')}</main>`,
  });
}

function groupOf(group: Group, document: Json): string {
  const operations = OPERATIONS.filter((operation) => operation.group === group);
  return `<h2 id="${group}">${text(GROUPS[group])}</h2><div class="group">${operations
    .map((operation) => operationOf(operation, document))
    .join('')}</div>`;
}

interface Described {
  readonly parameters: readonly { name: string; in: string; required: boolean; description?: string; schema: Json }[];
}

function operationOf(operation: Operation, document: Json): string {
  const { method, path, summary, roles, answer, also = [], status, id } = operation;
  const paths = document.paths as Record<string, Record<string, Described>>;
  const described = paths[openPath(path)]?.[method.toLowerCase()];
  const schemas = (document.components as { schemas: Record<string, Json> }).schemas;
  const name = `${id[0]?.toUpperCase()}${id.slice(1)}`;
  const rows = (described?.parameters ?? []).map(
    ({ name: parameter, in: place, required, description, schema }) =>
      `<tr><td><code>${text(parameter)}</code></td><td class="soft">${place}${required ? ', required' : ''}</td><td><code>${text(
        shapeOf(schema, schemas),
      )}</code></td><td class="wide">${text(description ?? '')}</td></tr>`,
  );
  const body = schemas[`${name}Body`];
  const shown = typeof answer === 'string' ? answer : shapeOf(schemas[`${name}Answer`] ?? {}, schemas);
  return `<details id="${id}"><summary><span class="method ${method}">${method}</span> <code>${text(openPath(path))}</code>
<span class="soft">${code(summary)}</span></summary>
<p class="soft">For ${roles === 'anyone' ? 'anyone' : roles.join(', ')}. The client: <code>${id}</code>.</p>
${rows.length === 0 ? '' : `<div class="table"><table><tbody>${rows.join('')}</tbody></table></div>`}
${body === undefined ? '' : `<p>Body</p><pre>${text(shapeOf(body, schemas))}</pre>`}
<pre>${text(curlOf(operation))}</pre>
<p>Answer ${status}${also.length === 0 ? '' : `, or ${also.join(', ')}`}</p><pre>${text(shown)}</pre>
<p>Errors</p><dl>${errorsOf(operation)
    .map(
      (error) =>
        `<dt><code>${ERRORS[error].http} ${error}</code></dt><dd>${text((ERRORS[error] as ErrorEntry).message)}</dd>`,
    )
    .join('')}</dl></details>`;
}

/** Our own sentences mark code as Markdown does. */
const code = (sentence: string): string => text(sentence).replace(/`([^`]+)`/g, '<code>$1</code>');

function curlOf(operation: Operation): string {
  const { method, path, roles, body, example } = operation;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}"$SIGNALBOX_URL${openPath(path)}"`];
  if (roles !== 'anyone') lines.push('-H "Authorization: Bearer $SIGNALBOX_TOKEN"');
  if (isChange(operation) && body !== 'bytes') lines.push('-H "Idempotency-Key: $(uuidgen)"');
  if (body === 'bytes') lines.push('-H "Content-Type: application/octet-stream"', '--data-binary @bundle.js');
  else if (body !== undefined) {
    lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(example ?? {})}'`);
  }
  return lines.join(' \\\n  ');
}
