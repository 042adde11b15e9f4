import { openParts, aCall } from './open-parts.ts'
import { readTable } from './read-table.ts'
await using parts = await openParts({ COLUMNDB_HOST: 'http://127.0.0.1:18199', COLUMNDB_NAME: 'sandbox' })
for (const chart of parts.definitions.charts) {
  const t = performance.now()
  const r = await parts.handlers.chart({ hostKey: 'sandbox', name: chart.name, parameters: {} }, aCall())
  const nonzero = r.rows.filter((x) => chart.columns.some((c) => c.role === 'value' && x[c.name]))
  console.log(
    chart.name,
    r.rows.length,
    nonzero.length,
    JSON.stringify(r.rows[0]),
    JSON.stringify(nonzero.at(-1)),
    r.unavailable,
    (performance.now() - t).toFixed(0) + 'ms',
  )
}
for (const table of parts.definitions.tables) {
  const r = await readTable(parts, { hostKey: 'sandbox', name: table.name })
  console.log(table.name, r.rows.length, r.tail.truncated, JSON.stringify(r.rows[0])?.slice(0, 600))
}
console.log(await parts.handlers.hostStatus({ hostKey: 'sandbox', fleet: true }, aCall()))
console.log(await parts.handlers.overview({ hostKey: 'sandbox' }, aCall()))
console.log(
  await parts.handlers.hostStates({}, aCall()),
  (await parts.handlers.databaseTables({ hostKey: 'sandbox' }, aCall())).length,
)
