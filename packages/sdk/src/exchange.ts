/**
 * One HTTP request and its whole answer, over connections that are kept. Node's own `fetch` makes streams and objects for what a
 * short JSON answer does not need: it takes more than twice the processor time, and the request leaves later.
 */
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface Answered {
  readonly status: number;
  /** The header of that name, or null. */
  readonly retryAfter: string | null;
  readonly text: string;
}

// Made when first needed: a program that only defines dags opens nothing.
let agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | null = null;

/** Rejects when no whole answer came, and for a redirect: a credential is for the server that it was given for. */
export function exchange(url: string, { method, headers, body, signal }: Sent): Promise<Answered> {
  agents ??= { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const isSecure = url.startsWith('https:');
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = { method, headers: { ...headers, ...length }, agent: isSecure ? agents.https : agents.http };
  return new Promise((resolve, reject) => {
    const sent = (isSecure ? requestHttps : requestHttp)(url, options);
    const stop = (): void => void sent.destroy(signal.reason as Error);
    const over = (): void => signal.removeEventListener('abort', stop);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    sent.once('error', (error) => {
      over();
      reject(error);
    });
    sent.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      if (status >= 300 && status < 400) {
        sent.destroy(new Error(`The server answered with status ${status}, a redirect, which is not followed.`));
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject); // It broke off.
      response.once('close', over);
      response.once('end', () => resolve({ status, retryAfter: headers['retry-after'] ?? null, text }));
    });
    sent.end(body);
  });
}
