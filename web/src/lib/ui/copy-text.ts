/**
 * Copies a text and returns whether that succeeded. Browsers offer the Clipboard API over HTTPS only. Without HTTPS, a
 * copy command is used, which browsers allow after a button press.
 */
export const copyText = async (text: string): Promise<boolean> => {
  if (navigator.clipboard === undefined) return copyByCommand(text)
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

const copyByCommand = (text: string): boolean => {
  let isTaken = false
  const give = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
    isTaken = event.clipboardData !== null
  }
  document.addEventListener('copy', give)
  // Deprecated, but the only way on insecure origins.
  document.execCommand('copy')
  document.removeEventListener('copy', give)
  return isTaken
}

/** Message for browsers in which neither the Clipboard API nor the copy command works. */
export const copyFailureMessage = 'Select the text and copy it manually'
