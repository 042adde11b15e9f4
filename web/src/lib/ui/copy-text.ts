/**
 * Whether a text is in the clipboard now. Browsers give pages the clipboard by HTTPS alone, and many installations are reached
 * without: there the text is put into the copy that the press of a button may ask for.
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
  // Deprecated, and the only way there is on such an address.
  document.execCommand('copy')
  document.removeEventListener('copy', give)
  return isTaken
}

/** Said where neither way is open. */
export const copyYourself = 'Select it and copy it yourself'
