/** The parameter by which a table page says that it looks back, and how many hours; without schemas, for the browser. */
export const lookBack = 'last_hours'

/** Whether a table page looks back; the others show the present moment. */
export const looksBack = ({ parameters }: { parameters: readonly { name: string }[] }): boolean =>
  parameters.some(({ name }) => name === lookBack)
