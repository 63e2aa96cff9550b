/** `docs/reference/grpc.md`, made from `api.proto`: its comments are the reference, so the two can't come to differ. */
import { readFileSync } from 'node:fs';

interface Member {
  readonly text: string;
  readonly comment: string;
}

interface Block {
  readonly kind: string;
  readonly name: string;
  readonly members: readonly Member[];
}

export function apiPage(): string {
  const proto = readFileSync(new URL('../../proto/api.proto', import.meta.url), 'utf8');
  const blocks = blocksOf(proto);
  const calls = blocks.find(({ kind }) => kind === 'service')?.members ?? [];
  const messages = blocks.filter(({ kind }) => kind === 'message');
  return [
    '# gRPC',
    '',
    ...HEAD,
    introOf(proto),
    '',
    '## Calls',
    '',
    '| call | what it does |',
    '| --- | --- |',
    ...calls.map(({ text, comment }) => `| ${callOf(text)} | ${comment} |`),
    '',
    '## Messages',
    ...messages.flatMap(messageLines),
    '',
  ].join('\n');
}

const HEAD = [
  '<!-- Made from packages/protocol/proto/api.proto: change that, then `npx vitest run api-page -u`. -->',
  '',
  'Package `signalbox.v1`, service `Signalbox`, on the services port (`SIGNALBOX_SERVICES`, 127.0.0.1:4502). The file to generate clients from is `packages/protocol/proto/api.proto`;',
  'the server also has reflection (v1 and v1alpha, with any credential) and `grpc.health.v1.Health` (without one):',
  '',
  '```sh',
  'grpcurl -plaintext -H "authorization: Bearer $(cat admin.token)" -d \'{"dag":"hello"}\' 127.0.0.1:4502 signalbox.v1.Signalbox/TriggerRun',
  '```',
  '',
];

/** Comments between the syntax and the package. */
function introOf(proto: string): string {
  const lines = proto
    .slice(0, proto.indexOf('\npackage '))
    .split('\n')
    .filter((line) => line.startsWith('//'));
  return lines.map((line) => line.replace(/^\/\/ ?/, '')).join('\n');
}

function blocksOf(proto: string): Block[] {
  return [...proto.matchAll(/^(service|message) (\w+) \{([^}]*)\}/gm)].map(([, kind = '', name = '', body = '']) => ({
    kind,
    name,
    members: membersOf(body),
  }));
}

function membersOf(body: string): Member[] {
  const members: Member[] = [];
  let comment: string[] = [];
  for (const line of body.split('\n').map((each) => each.trim())) {
    if (line.startsWith('//')) comment.push(line.replace(/^\/\/ ?/, ''));
    else if (line !== '') {
      members.push({ text: line, comment: comment.join(' ') });
      comment = [];
    }
  }
  return members;
}

function callOf(text: string): string {
  const [, name = '', request = '', stream = '', answer = ''] =
    /^rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\);$/.exec(text) ?? [];
  return `\`${name}\`([${request}](#${request.toLowerCase()})) → ${stream ?? ''}[${answer}](#${answer.toLowerCase()})`;
}

function messageLines({ name, members }: Block): string[] {
  const fields = members.map(({ text, comment }) => {
    const [, type = '', field = ''] = /^(.+) (\w+) = \d+;$/.exec(text) ?? [];
    return `| \`${field}\` | ${type.replaceAll('<', '&lt;')} | ${comment} |`;
  });
  const table = fields.length === 0 ? ['No fields.'] : ['| field | type | |', '| --- | --- | --- |', ...fields];
  return ['', `### ${name}`, '', ...table];
}
