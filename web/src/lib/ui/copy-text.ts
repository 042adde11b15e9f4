/**
 * Copies a text and returns whether that succeeded. Browsers provide the Clipboard API only over HTTPS. Without HTTPS,
 * the function runs the copy command of the browser, which must follow a click or a key press.
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
  // This API is deprecated, but it is the only way to copy on insecure origins.
  document.execCommand('copy')
  document.removeEventListener('copy', give)
  return isTaken
}

/** Message for browsers in which neither the Clipboard API nor the copy command works. */
export const copyFailureMessage = 'Select the text and copy it manually'
