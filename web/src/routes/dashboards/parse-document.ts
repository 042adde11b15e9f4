/** Parses the JSON of a dashboard. Throws an error that describes the syntax error, as the browser does. */
export const parseDocument = (text: string): Record<string, unknown> => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the document is not JSON: ${reason}`, { cause: error })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('the document is not a JSON object; paste the whole exported dashboard')
  return { ...parsed }
}
