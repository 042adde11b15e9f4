/** Instants as people of a zone write them. */
export const momentsOf = (zone: string): ((atMs: number) => string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })
  return (atMs) => format.format(atMs)
}
