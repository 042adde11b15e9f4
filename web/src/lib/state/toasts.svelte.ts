/** How long a toast is shown, in milliseconds. */
const shownMs = 6_000

let shownText = $state<string | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** The message at the bottom of the page; a new one replaces the previous one. */
export const toasts = {
  get text(): string | null {
    return shownText
  },
  show: (text: string): void => {
    clearTimeout(timer)
    shownText = text
    timer = setTimeout(toasts.close, shownMs)
  },
  close: (): void => {
    clearTimeout(timer)
    shownText = null
  },
}
