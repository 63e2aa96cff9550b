/** The text that Prometheus reads (version 0.0.4), and the page that people read. */
import { METRICS, type Metric, type Sample, type Seen } from './table.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function writeMetrics(seen: Seen): string {
  const lines: string[] = [];
  for (const metric of METRICS) {
    lines.push(`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.type}`);
    for (const sample of metric.samples(seen)) lines.push(...linesOf(metric, sample));
  }
  return `${lines.join('\n')}\n`;
}

function linesOf({ name }: Metric, sample: Sample): string[] {
  if ('value' in sample) return [`${name}${labelsOf(sample.labels)} ${sample.value}`];
  const { labels, histogram, scale } = sample;
  const lines: string[] = [];
  let below = 0;
  histogram.bounds.forEach((bound, i) => {
    below += histogram.counts[i] ?? 0;
    lines.push(`${name}_bucket${labelsOf({ ...labels, le: String(rounded(bound * scale)) })} ${below}`);
  });
  lines.push(`${name}_bucket${labelsOf({ ...labels, le: '+Inf' })} ${histogram.count}`);
  lines.push(`${name}_sum${labelsOf(labels)} ${rounded(histogram.sum * scale)}`);
  lines.push(`${name}_count${labelsOf(labels)} ${histogram.count}`);
  return lines;
}

/** 0.005, not 0.005000000000000001. */
const rounded = (value: number): number => Number(value.toPrecision(12));

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** The page `docs/reference/metrics.md`. */
export function metricsPage(): string {
  const rows = METRICS.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return `# Metrics

\`GET /metrics\` returns the Prometheus text format, with any valid credential of the tenant \`default\`. The numbers are those of one server, so scrape
each server. No label contains the name of a user, a dag or a task. This page is generated from the server's table of metrics.

\`\`\`yaml
scrape_configs:
  - job_name: signalbox
    authorization: { credentials_file: /etc/prometheus/signalbox.token } # a token with the role viewer
    static_configs: [{ targets: ['127.0.0.1:4500'] }]
\`\`\`

| metric | type | labels | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}`;
}
