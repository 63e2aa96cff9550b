/** A process that reads paths over and over, one request at a time on each connection. Plain sockets: it shares the processors. */
import { connect, type Socket } from 'node:net';
import type { Read, Reading } from './status.ts';

const END_OF_HEAD = '\r\n\r\n';

process.once('message', (message) => {
  void read(message as Reading).then((done) => process.send?.(done, () => process.exit(0)));
});

async function read({ port, token, paths, connections, ms }: Reading): Promise<Read> {
  const until = performance.now() + ms;
  const times: number[] = [];
  let next = 0;
  const refused: Record<string, number> = {};
  const reader = async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    while (performance.now() < until) {
      const path = paths[next++ % paths.length] ?? '';
      const began = performance.now();
      const status = await exchange(
        socket,
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}${END_OF_HEAD}`,
      );
      times.push(performance.now() - began);
      if (status !== 200) refused[status] = (refused[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, reader));
  const { user, system } = process.cpuUsage();
  return { ms: times, refused, cpuMs: (user + system) / 1_000 };
}

/** Sends a request, and returns the status when its whole answer is there. */
function exchange(socket: Socket, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const onData = (chunk: Buffer) => {
      seen += chunk.toString('latin1');
      const head = seen.indexOf(END_OF_HEAD);
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(seen.slice(0, head))?.[1]);
      if (Number.isNaN(length)) fail(new Error(`An answer without its length:\n${seen.slice(0, head)}`));
      else if (seen.length >= head + END_OF_HEAD.length + length) finish(Number(seen.slice(9, 12)));
    };
    const fail = (error: Error) => {
      stopListening();
      reject(error);
    };
    const finish = (status: number) => {
      stopListening();
      resolve(status);
    };
    const stopListening = () => {
      socket.off('data', onData);
      socket.off('error', fail);
    };
    socket.on('data', onData);
    socket.on('error', fail);
    socket.write(request);
  });
}
