/** The page at `/`: what is going on. Everything on it is asked of the API by its script, and shown as text. */
import { overviewScript } from './overview-script.ts';
import { makePage, type Page } from './page.ts';

const count = (id: string, label: string): string =>
  `<div class="count"><b id="${id}">–</b><span class="soft">${label}</span></div>`;
const table = (id: string, heads: readonly string[]): string =>
  `<div class="table"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody id="${id}"></tbody></table></div>`;

export function overviewPage(): Page {
  return makePage({
    title: 'Signalbox',
    script: overviewScript,
    body: `<header><h1>Signalbox</h1><span class="soft mono" id="address"></span>
<nav><a href="/docs">API</a><a href="/openapi.json">openapi.json</a><a href="/metrics">Metrics</a></nav></header>
<main><p id="trouble" class="bad" role="status" hidden></p>
<div class="counts">${count('dag-count', 'dags')}${count('open-count', 'open runs')}${count('worker-count', 'workers')}${count(
      'slot-count',
      'slots in use',
    )}${count('node-count', 'servers')}</div>
<h2>Dags</h2>${table('dags', ['name', 'version', 'tasks', 'last run', 'next firing', ''])}
<h2>Latest runs</h2>${table('runs', ['run', 'dag', 'state', 'cause', 'created', 'took'])}</main>`,
  });
}
