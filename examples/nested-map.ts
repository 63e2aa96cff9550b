// A map in a map: for each region its shops are listed, and each shop is counted by itself. What comes behind a map gets one list.
//
//   npx signalbox runs trigger nested-map --params '{"regions":["north","south"]}' --wait
import { dag } from '@signalbox/sdk';

const SHOPS: Readonly<Record<string, readonly string[]>> = {
  north: ['oslo', 'bergen'],
  south: ['rome', 'bari', 'lecce'],
};

export default dag<{ regions: string[] }>('nested-map', ({ task, map, params }) => {
  const counted = map('region', params.regions, ({ item: region, task, map }) => {
    const shops = task('shops', { inputs: { region } }, ({ inputs }) => [...(SHOPS[inputs.region] ?? [])]);
    const sales = map('shop', shops.output, ({ item: shop, task }) =>
      task('count', { inputs: { region, shop } }, ({ inputs, index }) => ({ ...inputs, sales: 10 * (index + 1) })),
    );
    // In the same region: this one gets the shops of its own region only.
    const total = task('total', { inputs: { region, sales: sales.output.sales } }, ({ inputs }) => ({
      region: inputs.region,
      sales: inputs.sales.reduce((sum, each) => sum + each, 0),
    }));
    return { sales, total };
  });
  // Outside of both: all shops of all regions, and one total for each region.
  task('report', { inputs: { shops: counted.sales.output.shop, totals: counted.total.output } }, ({ inputs }) => ({
    shops: inputs.shops.length,
    totals: Object.fromEntries(inputs.totals.map(({ region, sales }) => [region, sales])),
  }));
});
