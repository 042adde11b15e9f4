import { writeSync } from 'node:fs'
import { emitKeypressEvents } from 'node:readline'
import type { CommandContext } from '../context.ts'
import type { Key } from './state.ts'

const escape = '\u001B['
/** The alternate screen, so that the shell keeps its own; without cursor and line wrap. */
const enter = `${escape}?1049h${escape}?25l${escape}?7l${escape}2J`
const leave = `${escape}?7h${escape}?25h${escape}?1049l`

/** The size of a terminal that does not report its own. */
const defaultSize = { columns: 80, rows: 24 }
/** The file descriptor of standard output. */
const terminal = 1

/** The whole terminal. Disposal restores it; so does every other end of the process. */
export interface Screen extends Disposable {
  readonly columns: number
  readonly rows: number
  /** Draws lines from the top. Only lines that changed are written. */
  draw(lines: readonly string[]): void
}

interface ScreenOptions {
  stdin: CommandContext['stdin']
  stdout: CommandContext['stdout']
  onKey(key: Key): void
  onResize(): void
}

interface KeypressEvent {
  name?: string
  ctrl?: boolean
}

/** Takes over the terminal. */
export const openScreen = ({ stdin, stdout, onKey, onResize }: ScreenOptions): Screen => {
  let drawn: readonly string[] = []
  let isOpen = true
  const restore = (): void => {
    if (!isOpen) return
    isOpen = false
    // Written synchronously, because the process may be ending.
    writeSync(terminal, leave)
    stdin.setRawMode?.(false)
  }
  const receiveKey = (text: string | undefined, { name = '', ctrl }: KeypressEvent): void =>
    onKey({ name: ctrl ? `ctrl-${name}` : name, text: text ?? '' })
  const resize = (): void => {
    drawn = []
    stdout.write(`${escape}2J`)
    onResize()
  }
  process.on('exit', restore)
  emitKeypressEvents(stdin)
  stdin.setRawMode?.(true)
  stdin.on('keypress', receiveKey)
  stdin.resume()
  stdout.on('resize', resize)
  stdout.write(enter)
  return {
    get columns() {
      return stdout.columns ?? defaultSize.columns
    },
    get rows() {
      return stdout.rows ?? defaultSize.rows
    },
    draw(lines) {
      const changes = lines.flatMap((line, index) =>
        line === drawn[index] ? [] : [`${escape}${index + 1};1H${line}${escape}K`],
      )
      if (changes.length > 0) stdout.write(changes.join(''))
      drawn = lines
    },
    [Symbol.dispose]() {
      restore()
      process.off('exit', restore)
      stdin.off('keypress', receiveKey)
      stdin.pause()
      stdout.off('resize', resize)
    },
  }
}
