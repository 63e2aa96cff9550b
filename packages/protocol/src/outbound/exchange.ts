/** One request and its answer, to a checked address, with a limit on what is read of it. No redirects: see `call.ts`. */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressPolicy } from './address-policy.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** As it was written, before it was read: what it hides is seen there. */
  readonly written: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** There was more than may be read; the body is what came before it. */
  readonly isCut: boolean;
}

export interface ExchangeLimits {
  readonly bodyBytes: number;
  readonly signal: AbortSignal;
}

export async function exchange(
  { method, url, written, headers, body }: HttpRequest,
  policy: AddressPolicy,
  { bodyBytes, signal }: ExchangeLimits,
): Promise<HttpAnswer> {
  policy.checkLiteral(url, written);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, {
      method,
      headers: body === null ? headers : { ...headers, 'content-length': String(body.length) },
      // A connection of its own: one that is kept may lead to where another call was allowed to go.
      agent: false,
      lookup: policy.lookup,
      signal,
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.end(body ?? undefined);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyBytes) break;
    chunks.push(chunk);
  }
  answer.destroy();
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: Buffer.concat(chunks),
    isCut: size > bodyBytes,
  };
}
