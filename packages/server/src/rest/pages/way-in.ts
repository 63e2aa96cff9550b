/** What a browser sees when there is no page: no session, or no build of the UI. */
import type { FastifyReply } from 'fastify';
import { makePage, type Page, text } from './page.ts';

/** `why` is one of our own sentences. */
export function wayInPage(why: string): Page {
  return makePage({
    title: 'Signalbox',
    body: `<main class="narrow"><h1>Signalbox</h1><p>${text(why)}</p>
<p>The way in is a link that works once. <code>signalbox start</code> prints one, and <code>signalbox login</code> another.</p></main>`,
  });
}

export function notBuiltPage(): Page {
  return makePage({
    title: 'Signalbox',
    body: `<main class="narrow"><h1>Signalbox</h1><p>The web UI is not built.</p>
<p>Run <code>npm run build</code> in the folder of the server and start it again. The API and <a href="/docs">its reference</a> work without it.</p></main>`,
  });
}

export function sendPage(reply: FastifyReply, { html, policy }: Page): FastifyReply {
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(html);
}
