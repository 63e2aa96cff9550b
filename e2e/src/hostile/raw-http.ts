/** Sends bytes as they are, which no HTTP client would, and reads what comes back until the other side is done. */
import { connect } from 'node:net';

const PATIENCE_MS = 5_000;

export function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer within ${PATIENCE_MS} ms; so far: ${answer.slice(0, 200)}`));
    }, PATIENCE_MS);
    const done = () => {
      clearTimeout(late);
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.includes('\r\n\r\n')) done();
    });
    socket.on('end', done);
    socket.on('error', done);
  });
}
