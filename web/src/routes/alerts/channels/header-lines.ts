/** Parses lines such as `Authorization: Bearer …` into headers. A line without a colon becomes a name without a value, which the service rejects. */
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
