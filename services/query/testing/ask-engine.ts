/** What an embedded host itself answers to a statement, without the white space at its end; throws what it says went wrong. */
export const askEngine = async (
  { url }: { url: string },
  sql: string,
  parameters: Record<string, string> = {},
): Promise<string> => {
  const response = await fetch(`${url}/?${new URLSearchParams(parameters).toString()}`, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text.trimEnd()
}
