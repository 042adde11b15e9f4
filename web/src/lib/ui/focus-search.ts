/** Keys are captured for at most this time; a page that has not rendered its search field by then has none. */
const maxWaitMs = 3_000

const searchField = (): HTMLInputElement | null => document.querySelector('main [type=search]')

/**
 * Focuses the search field of the page. While the page is still loading, captures what the user types and puts it into the field once it
 * is rendered, so that no keystroke is lost or read as a shortcut. Escape, a click or `maxWaitMs` ends the capture.
 */
export const focusSearch = (): void => {
  const field = searchField()
  if (field) return field.focus()
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
    const late = searchField()
    if (!late) return
    stop()
    late.focus()
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
  rendered.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('keydown', capture, true)
  document.addEventListener('pointerdown', stop, true)
}
