/** What a browser without a session sees: how to get one. */
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

export function sendPage(reply: FastifyReply, { html, policy }: Page): FastifyReply {
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(html);
}
