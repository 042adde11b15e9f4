/** Keys are captured for at most this time; a page without a visible search field by then has none. */
const maxWaitMs = 3_000

/** Focuses the search field and returns it; null if there is none yet, or if it is still invisible and cannot have the focus. */
const focusField = (): HTMLInputElement | null => {
  const field = document.querySelector<HTMLInputElement>('main [type=search]')
  field?.focus()
  return document.activeElement === field ? field : null
}

/**
 * Focuses the search field of the page. While the page is still loading, captures what the user types and puts it into the field once it
 * is visible, so that no keystroke is lost or read as a shortcut. Escape, a click or `maxWaitMs` ends the capture.
 */
export const focusSearch = (): void => {
  if (focusField()) return
  let typed = ''
  const capture = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') return stop()
    if (event.key === 'Backspace') typed = typed.slice(0, -1)
    else if (event.key.length === 1) typed += event.key
    else return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const rendered = new MutationObserver(() => {
    const late = focusField()
    if (!late) return
    stop()
    if (typed === '') return
    late.value = typed
    late.dispatchEvent(new InputEvent('input', { bubbles: true }))
  })
  const timer = setTimeout(() => stop(), maxWaitMs)
  const stop = () => {
    clearTimeout(timer)
    rendered.disconnect()
    document.removeEventListener('keydown', capture, true)
    document.removeEventListener('pointerdown', stop, true)
  }
  rendered.observe(document.body, { childList: true, subtree: true, attributeFilter: ['class'] })
  document.addEventListener('keydown', capture, true)
  document.addEventListener('pointerdown', stop, true)
}
