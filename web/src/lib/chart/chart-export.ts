import type { ChartData } from '#proto/query.ts'
import { copyText, copyFailureMessage } from '#lib/ui/copy-text.ts'
import { saveFile } from '#lib/ui/save-file.ts'
import { toCsv } from './csv.ts'

/** Copies the rows as CSV, or saves them as a file where the clipboard is not available. Returns a status message. */
export const copyCsv = async (data: ChartData): Promise<string> => {
  const csv = toCsv(data)
  if (await copyText(csv)) return 'Rows copied to the clipboard.'
  saveFile(new Blob([csv], { type: 'text/csv' }), `${data.chart.name}.csv`)
  return 'Rows saved as a file.'
}

export const copyStatement = async (text: string, what: string): Promise<string> =>
  (await copyText(text)) ? `${what} copied to the clipboard.` : `${copyFailureMessage}.`

export const copyImage = async (figure: HTMLElement, title: string): Promise<string> => {
  const { renderImage } = await import('./render-image.ts')
  const picture = await renderImage(figure, title)
  if (await copyImageToClipboard(picture)) return 'Image copied to the clipboard.'
  saveFile(picture, `${title}.png`)
  return 'Image saved as a file.'
}

/** Copies the image and returns whether that succeeded. The clipboard requires a secure origin. */
const copyImageToClipboard = async (picture: Blob): Promise<boolean> => {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })])
    return true
  } catch {
    return false
  }
}
