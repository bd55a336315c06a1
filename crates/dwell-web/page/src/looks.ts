import { api } from "./api";
import { type Colour, type Layer, layersOf, type Scene } from "./scene";

/** Looks and palettes do not depend on the place. */
const ANYWHERE = { re: "0", im: "0", view_height: "4" };

/** Layers with a name, and the colours they go with if they bring some. */
export interface Look {
  readonly name: string;
  readonly title: string;
  readonly layers: readonly Layer[];
  readonly colour: Colour | null;
}

/** The colours of a scene with every key. */
export async function normalColour(colour: Colour): Promise<Scene> {
  return api.normal({ ...ANYWHERE, colour });
}

export async function allLooks(): Promise<Look[]> {
  const named = await api.looks();
  return Promise.all(
    named.map(async ({ name, title, palette }) => {
      const scene = await normalColour({ look: name });
      return {
        name,
        title,
        layers: layersOf(scene),
        colour: palette === null ? null : (scene.colour ?? null),
      };
    }),
  );
}

/** What a palette suggests besides its colours. */
export function suggestions(normal: Colour): Partial<Colour> {
  const parts: Partial<Colour> = {};
  if (normal.density !== undefined && normal.density !== 1) parts.density = normal.density;
  if (normal.offset !== undefined && normal.offset !== 0) parts.offset = normal.offset;
  if (normal.by !== undefined && normal.by !== "smooth") parts.by = normal.by;
  if (normal.scale !== undefined && normal.scale !== "auto") parts.scale = normal.scale;
  return parts;
}
