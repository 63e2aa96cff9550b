/** `signalbox zones`: the time zone data that the cluster decides by. */
import { type ClientFlags, connect } from '../connection.ts';
import { colours, print, printJson, table } from '../output.ts';
import { next } from '../program-name.ts';

export async function showZones(flags: ClientFlags): Promise<void> {
  const { version, nodes, zones } = await (await connect(flags)).getZones();
  if (flags.json) return printJson({ version, nodes, zones });
  print(`The cluster decides by zone data ${version}.`);
  if (nodes.length > 0) {
    print(
      table(
        ['server', 'its own data'],
        nodes.map(({ node, version: own }) => [node, own ?? 'not told']),
      ),
    );
  }
  if (zones.length > 0) print(`Zones in use: ${zones.map(({ zone }) => zone).join(', ')}`);
  if (nodes.some(({ version: own }) => own !== null && own > version))
    print(colours.yellow(`A server has newer data. Use it with: ${next('zones upgrade')}`));
}

export async function upgradeZones(flags: ClientFlags): Promise<void> {
  const raised = await (await connect(flags)).upgradeZones();
  if (flags.json) return printJson(raised);
  const { version, previous, server, changed } = raised;
  if (changed) print(`The cluster decides by zone data ${version} now; it was ${previous}.`);
  else print(`Nothing to do: the cluster has zone data ${version}, and this server has ${server}.`);
}
