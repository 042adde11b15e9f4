import type { TableInfo } from '#proto/catalogue.ts'
import { lookbackParameter } from '#proto/lookback.ts'

/** Returns the default time range of a table page in hours; undefined if the page shows the current state. */
export const getDefaultHours = ({ parameters }: Pick<TableInfo, 'parameters'>): number | undefined => {
  const declared = parameters.find(({ name }) => name === lookbackParameter)
  return declared && Number(declared.default)
}
