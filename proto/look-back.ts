/** The parameter of table pages with a lookback window in hours. This file has no schemas, for the browser. */
export const lookBack = 'last_hours'

/** Returns whether a table page has a lookback window. Others show current data. */
export const looksBack = ({ parameters }: { parameters: readonly { name: string }[] }): boolean =>
  parameters.some(({ name }) => name === lookBack)
