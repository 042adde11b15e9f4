/** The parameter of a lookback window in hours. The web UI imports this file, so the file must not import schemas. */
export const lookbackParameter = 'last_hours'

/** Returns whether a table page has a lookback window. Pages without one show current data. */
export const hasLookbackWindow = ({ parameters }: { parameters: readonly { name: string }[] }): boolean =>
  parameters.some(({ name }) => name === lookbackParameter)
