/**
 * Parses lines such as `Authorization: Bearer …`. The value of a line without a colon is empty, so that the service
 * rejects it.
 */
export const readHeaderLines = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [name = '', ...value] = line.split(':')
        return [name.trim(), value.join(':').trim()]
      }),
  )
