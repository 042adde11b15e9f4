import type { ChartInfo, TableInfo } from '#proto/catalogue.ts'
import { hasLookbackWindow } from '#proto/lookback.ts'
import type { Row } from '#proto/query.ts'
import { hasTimeAxis } from './series.ts'

/** The table page with all queries of an interval. Charts that no table page lists lead to it. */
const queriesTable = 'history-queries'

/** Names that stand for several values, for which there is no filter. */
const collectiveNames = new Set(['others', 'Unknown', '…'])

type Table = Pick<TableInfo, 'name' | 'charts' | 'parameters'>

/**
 * Returns the path of the page with the rows behind a value; null if there is none. `row` contains the values of the
 * placeholders, `column` is the name of the value column.
 */
export const findRowsPath = (
  chart: ChartInfo,
  tables: readonly Table[],
  row: Row = {},
  column?: string,
): string | null => {
  const own = chart.columns.find(({ name }) => name === column)?.href
  const template = own ?? chart.href
  if (template !== undefined) return fillPlaceholders(template, row)
  const table = findTable(chart, tables)
  return table ? `/tables/${table.name}` : null
}

/** Returns the first table page that lists a chart. The rows behind a time series need a page with a time range. */
const findTable = (chart: ChartInfo, tables: readonly Table[]): Table | undefined => {
  const listing = tables.filter(({ charts }) => charts.includes(chart.name))
  if (!hasTimeAxis(chart)) return listing[0]
  return listing.find(hasLookbackWindow) ?? tables.find(({ name }) => name === queriesTable)
}

/** Fills the placeholders of a path. Filters without a single value are omitted; a path without one is null. */
const fillPlaceholders = (template: string, row: Row): string | null => {
  const [path = '', search] = template.split('?')
  const filled = fill(path, row)
  if (filled === null) return null
  const parameters = (search?.split('&') ?? []).flatMap((parameter) => fill(parameter, row) ?? [])
  return parameters.length > 0 ? `${filled}?${parameters.join('&')}` : filled
}

const fill = (text: string, row: Row): string | null => {
  let isComplete = true
  const filled = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(row[name] ?? '')
    if (value === '' || collectiveNames.has(value)) isComplete = false
    return encodeURIComponent(value)
  })
  return isComplete ? filled : null
}

/** Returns the row of a series: its name as the value of the series column. */
export const toSeriesRow = (chart: ChartInfo, key: string | null): Row => {
  const name = chart.columns.find(({ role }) => role === 'series')?.name
  return name === undefined || key === null ? {} : { [name]: key }
}
