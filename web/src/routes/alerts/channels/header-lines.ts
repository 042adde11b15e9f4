/** Headers by name of lines such as `Authorization: Bearer …`. A line without a colon is a name without a value, which the service refuses. */
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
