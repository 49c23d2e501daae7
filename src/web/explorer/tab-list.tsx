import { CloseIcon, UnStyledButton } from "@graphiql/react";
import { createContext, useContext, useEffect, useRef, type ComponentProps, type ReactNode } from "react";

/**
 * Replaces GraphiQL's tabs; see build.mjs. GraphiQL nests buttons in elements of the role "tab", which screen readers
 * do not reach, and its tabs can be dragged, so that a phone cannot scroll them.
 */
interface TabProps {
  readonly isActive: boolean;
  readonly children: ReactNode;
}
interface TabsProps {
  readonly "aria-label": string;
  readonly children: ReactNode;
}
type ButtonProps = ComponentProps<typeof UnStyledButton>;

const IsActive = createContext(false);

function Item({ isActive, children }: TabProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isActive) item.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isActive]);
  return (
    <IsActive value={isActive}>
      <li ref={item} className={`graphiql-tab ${isActive ? "graphiql-tab-active" : ""}`}>
        {children}
      </li>
    </IsActive>
  );
}

const Title = (props: ButtonProps) => (
  <UnStyledButton
    {...props}
    type="button"
    className="graphiql-tab-button"
    aria-current={useContext(IsActive) ? "page" : undefined}
  />
);

const Close = ({ onClick }: ButtonProps) => (
  <UnStyledButton type="button" className="graphiql-tab-close" aria-label="Close Tab" onClick={onClick}>
    <CloseIcon />
  </UnStyledButton>
);

export const Tab = Object.assign(Item, { Button: Title, Close });

export const Tabs = ({ "aria-label": label, children }: TabsProps) => (
  <ul className="graphiql-tabs no-scrollbar" aria-label={label}>
    {children}
  </ul>
);
